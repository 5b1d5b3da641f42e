//! Whether the code of a package is what its sources give: built again, in a copy of its directory.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use opal_plugins::installed::Installed;

use crate::failure::Failure;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rebuild {
    /// The package does not say how.
    NotDescribed,
    /// Nobody asked for it.
    NotRun,
    Same,
    Differs,
    /// The command failed, with the last line that it printed.
    Failed(String),
}

/// What is made by tools, and is made again.
const LEFT_OUT: [&str; 6] = ["target", "node_modules", ".git", ".venv", ".tools", "__pycache__"];

impl Rebuild {
    pub(super) fn not_run(one: &Installed) -> Self {
        if Self::is_described(one) { Self::NotRun } else { Self::NotDescribed }
    }

    /// Whether the package says how its code is built.
    pub(super) fn is_described(one: &Installed) -> bool {
        one.manifest.description.build.is_some() && engines(one).next().is_some()
    }

    pub(crate) const fn failed(&self) -> bool {
        matches!(self, Self::Differs | Self::Failed(_))
    }

    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::NotDescribed => "not described",
            Self::NotRun => "not run",
            Self::Same => "same",
            Self::Differs => "differs",
            Self::Failed(_) => "failed",
        }
    }
}

pub(super) fn check(one: &Installed, directory: &Path) -> Result<Rebuild, Failure> {
    let Some(command) = &one.manifest.description.build else { return Ok(Rebuild::NotDescribed) };
    if !Rebuild::is_described(one) {
        return Ok(Rebuild::NotDescribed);
    }
    let failed = |error: io::Error| Failure::unwritable("a copy of the package", &error);
    let place = tempfile::tempdir().map_err(failed)?;
    // The same last part: some tools put the name of the directory into what they make.
    let copy = place.path().join(directory.file_name().unwrap_or_default());
    copy_tree(directory, &copy).map_err(failed)?;
    for engine in engines(one) {
        let _ = fs::remove_file(copy.join(engine));
    }
    #[expect(clippy::disallowed_methods, reason = "a build that is waited for, for its author")]
    let built = Command::new("sh")
        .args(["-c", command])
        .current_dir(&copy)
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr);
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no output");
        return Ok(Rebuild::Failed(format!("`{command}` failed ({}): {last}", built.status)));
    }
    for engine in engines(one) {
        match (fs::read(copy.join(engine)), fs::read(directory.join(engine))) {
            (Ok(new), Ok(old)) if new == old => {}
            (Ok(_), Ok(_)) => return Ok(Rebuild::Differs),
            _ => return Ok(Rebuild::Failed(format!("`{command}` did not write `{engine}`"))),
        }
    }
    Ok(Rebuild::Same)
}

/// The files with its code.
fn engines(one: &Installed) -> impl Iterator<Item = &str> {
    let description = &one.manifest.description;
    [&description.wasm, &description.native].into_iter().flatten().map(String::as_str)
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        if kind.is_dir() && !LEFT_OUT.iter().any(|left_out| name == *left_out) {
            copy_tree(&entry.path(), &to.join(&name))?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

/// For messages.
pub(crate) fn said(rebuild: &Rebuild) -> Option<String> {
    match rebuild {
        Rebuild::NotDescribed | Rebuild::NotRun => None,
        Rebuild::Same => Some("rebuild  ok      the sources give the same code".to_owned()),
        Rebuild::Differs => {
            Some("rebuild  FAILED  the sources give other code than the package has".to_owned())
        }
        Rebuild::Failed(why) => Some(format!("rebuild  FAILED  {why}")),
    }
}
