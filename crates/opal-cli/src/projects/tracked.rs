//! The projects below a directory that git tracks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::folder_of;
use crate::failure::{Exit, Failure};
use crate::git;
use crate::project::DEFAULT_FILE;

/// The projects of a tree.
#[derive(Debug)]
pub(crate) struct Tracked {
    /// The top of the repository, without symlinks.
    pub(super) top: PathBuf,
    /// The directory of the tree, without symlinks.
    pub(super) base: PathBuf,
    /// Their directories below it, sorted.
    pub(crate) projects: Vec<String>,
    /// Those that do not count, each with the reason.
    pub(super) omitted: Vec<(String, String)>,
}

/// The projects strictly below the directory of `tree`. Those of submodules and of other repositories
/// are not in the index, nor are those behind a symlink.
pub(crate) fn below(tree: &Path) -> Result<Tracked, Failure> {
    let folder = folder_of(tree);
    let shown = folder.display();
    let base = folder.canonicalize().map_err(|error| Failure::unreadable(folder, &error))?;
    let top = top(&base).ok_or_else(|| {
        Failure::usage(
            format!(
                "`{}` needs a git repository: only projects that git tracks count",
                tree.display()
            ),
            "run `git init` and `git add`, or name one project: `opal DIR:TASK`",
        )
    })?;
    // A submodule is a repository of its own: its tasks are not those of this one.
    let here = std::env::current_dir().ok().and_then(|here| self::top(&here));
    if let Some(here) = here.filter(|here| *here != top && top.starts_with(here)) {
        return Err(Failure::usage(
            format!(
                "`{shown}` belongs to another repository, or to a submodule of `{}`",
                here.display()
            ),
            format!("to run its tasks, go there first: `cd {shown}`"),
        ));
    }
    let pattern = format!("**/{DEFAULT_FILE}");
    let listed = |words: &[&str]| {
        let words = [&["--glob-pathspecs", "ls-files", "-z"], words, &["--", &pattern]].concat();
        git::ask_with(&base, &words).ok_or_else(|| {
            Failure::new(
                Exit::Unavailable,
                format!("git cannot list the files of `{shown}`"),
                "check it with `git status`",
            )
        })
    };
    let index = listed(&["--stage"])?;
    // `<mode> <hash> <stage>\t<name>`, each with a NUL after it.
    let entries = index.split('\0').filter_map(|line| line.split_once('\t'));
    let regular = entries.filter(|(facts, _)| facts.starts_with("100")).map(|(_, name)| name);
    let found: BTreeSet<&str> = regular.filter_map(project_of).collect();
    let others = listed(&["--others", "--exclude-standard"])?;
    let mut tracked = Tracked { top, base, projects: Vec::new(), omitted: Vec::new() };
    for project in found {
        match tracked.unusable(project) {
            None => tracked.projects.push(project.to_owned()),
            Some(why) => tracked.omitted.push((project.to_owned(), why.to_owned())),
        }
    }
    for project in others.split('\0').filter_map(project_of).collect::<BTreeSet<&str>>() {
        tracked.omitted.push((project.to_owned(), "git does not track it".to_owned()));
    }
    Ok(tracked)
}

/// The top of the repository around a directory, without symlinks.
fn top(folder: &Path) -> Option<PathBuf> {
    let top = git::ask(folder, &["rev-parse", "--show-toplevel"])?;
    PathBuf::from(top.strip_suffix('\n')?).canonicalize().ok()
}

/// The directory of a `commands.opl`; none where it is that of the tree itself.
fn project_of(file: &str) -> Option<&str> {
    file.strip_suffix(DEFAULT_FILE)?.strip_suffix('/')
}

impl Tracked {
    /// Why a project is not used, though git tracks its file.
    fn unusable(&self, project: &str) -> Option<&'static str> {
        let folder = self.base.join(project);
        let file = folder.join(DEFAULT_FILE);
        if project.chars().any(char::is_control) {
            return Some("its name has a control character");
        }
        // An import of such a name means a file.
        if project.ends_with(".opl") || project.ends_with(".env") || project.contains("/.env") {
            return Some("its name is that of a file");
        }
        match file.symlink_metadata() {
            Err(_) => Some("its `commands.opl` is gone"),
            // Git has a file there; somebody has put something else in its place.
            Ok(found) if !found.is_file() => Some("its `commands.opl` is not a regular file"),
            Ok(_) if folder.canonicalize().ok() != Some(folder) => {
                Some("its directory is a symlink")
            }
            Ok(_) => None,
        }
    }
}
