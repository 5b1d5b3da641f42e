//! The repository as data, so that rules can be tested on made-up ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Made by machines, or not ours to judge.
const SKIPPED: [&str; 7] = [
    ".git",
    "target",
    "packages/target",
    "fuzz/target",
    "fuzz/artifacts",
    "fuzz/coverage",
    "fuzz/corpus",
];

/// The files and folders of a repository. Paths are relative, with `/` between their parts.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    paths: BTreeSet<String>,
    texts: BTreeMap<String, String>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A tree of these files and the folders they imply.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            let ends = path.match_indices('/').map(|(at, _)| at);
            tree.paths.extend(ends.map(|end| path[..end].to_string()));
            tree.paths.insert((*path).to_string());
            tree.texts.insert((*path).to_string(), (*text).to_string());
        }
        tree
    }

    /// Whether there is such a file or folder.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.paths.contains(path.trim_end_matches('/'))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// The texts whose name ends in `suffix`, with their paths.
    pub(super) fn texts<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let texts = self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        texts.filter(move |(path, _)| path.ends_with(suffix))
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> Result<(), String> {
        let unreadable = |path: &str, error: std::io::Error| {
            format!("cannot read `{path}` ({error}); every file here must be readable text")
        };
        let entries = fs::read_dir(root.join(folder)).map_err(|error| unreadable(folder, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(folder, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if SKIPPED.contains(&path.as_str()) {
                continue;
            }
            let kind = entry.file_type().map_err(|error| unreadable(&path, error))?;
            if kind.is_dir() {
                self.read_folder(root, &path)?;
            } else if [".rs", ".toml", ".md"].iter().any(|suffix| path.ends_with(suffix)) {
                let text = fs::read_to_string(entry.path());
                self.texts.insert(path.clone(), text.map_err(|error| unreadable(&path, error))?);
            }
            self.paths.insert(path);
        }
        Ok(())
    }
}
