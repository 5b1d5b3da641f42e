//! Targets of other projects: `apps/web:build`, and `apps/...:test` for all projects of a tree.
//!
//! The task of a tree has a source of its own, which is made here: it imports each selected project and
//! calls the task of each in a branch. Plans, contracts and records treat it as any other source.
//!
//! | what | where |
//! |---|---|
//! | what a word means | [`Target`] |
//! | which projects there are, and which have changed: git says it | `tracked`, `changes` |
//! | the source that is made of them | `tree` |

mod changes;
mod tracked;
mod tree;

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::project::DEFAULT_FILE;

pub(crate) use tracked::below;
pub(crate) use tree::load;

/// What follows the directory where all projects below it are meant.
pub(crate) const BELOW: &str = "...";

/// A task of another project, or of all projects below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The source: `apps/web/commands.opl`, or `apps/...`.
    pub(crate) path: PathBuf,
    pub(crate) task: String,
}

impl Target {
    /// None where the word is the name of a task or a file.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let (place, task) = word.rsplit_once(':')?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_name = task.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if place.is_empty() || !is_name || !task.chars().all(is_part) {
            return None;
        }
        let folder = Path::new(place);
        let path = match is_tree(folder) {
            true => folder.to_owned(),
            false if place.contains('/') || folder.is_dir() => folder.join(DEFAULT_FILE),
            false => return None,
        };
        Some(Self { path, task: task.to_owned() })
    }

    /// As it is typed.
    pub(crate) fn word(path: &Path, task: &str) -> Option<String> {
        is_tree(path).then(|| format!("{}:{task}", path.display()))
    }
}

/// The directories of the projects of a tree, as they are typed.
pub(crate) fn folders(tree: &Path) -> Result<Vec<PathBuf>, Failure> {
    let projects = below(tree)?.projects.into_iter();
    Ok(projects.map(|project| project_folder(tree, &project)).collect())
}

/// The directory of a project, as it is seen from here.
fn project_folder(tree: &Path, project: &str) -> PathBuf {
    let path = folder_of(tree).join(project);
    path.strip_prefix(".").map(Path::to_owned).unwrap_or(path)
}

/// Whether a source is made of the projects of a tree.
pub(crate) fn is_tree(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == BELOW)
}

/// The directory of a tree, as it was named.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_target_where_a_directory_and_a_task_are_named() {
        for (word, path, task) in [
            ("apps/web:build", "apps/web/commands.opl", "build"),
            ("src:build", "src/commands.opl", "build"),
            ("./src:db.migrate", "./src/commands.opl", "db.migrate"),
            ("apps/...:test", "apps/...", "test"),
            ("...:test", "...", "test"),
            ("a:b/c:_d-e", "a:b/c/commands.opl", "_d-e"),
        ] {
            let expected = Target { path: path.into(), task: task.to_owned() };
            assert_eq!(Target::parse(word), Some(expected), "{word}");
        }
        for word in
            ["build", "test:unit", "apps/web", "apps/web:", ":x", "http://x", "a/b:c/d", "a/b:1"]
        {
            assert_eq!(Target::parse(word), None, "{word}");
        }
    }
}
