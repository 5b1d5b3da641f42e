//! A walk through a tree, in the order of the names, within limits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use opal_core::{Code, Diagnostic, Span};

const MOST_ENTRIES: usize = 200_000;
const MOST_LEVELS: usize = 48;

/// A directory or a file of the tree.
#[derive(Debug)]
pub(super) struct Entry {
    /// As the user knows it.
    pub(super) path: PathBuf,
    /// Without links above the tree.
    pub(super) real: PathBuf,
    pub(super) is_folder: bool,
    /// Below `packs/`, or beside or below a `stack/`.
    pub(super) in_pack: bool,
    /// Why it is not checked.
    pub(super) fault: Option<Diagnostic>,
    levels: usize,
}

#[derive(Debug)]
pub(super) struct Walk {
    root: PathBuf,
    /// What comes next is last.
    left: Vec<Entry>,
    seen: usize,
}

impl Walk {
    pub(super) fn of(root: &Path) -> io::Result<Self> {
        let real = root.canonicalize()?;
        if !real.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let in_pack = is_pack(&real);
        let top = Entry {
            path: root.into(),
            real: real.clone(),
            is_folder: true,
            in_pack,
            fault: None,
            levels: 0,
        };
        Ok(Self { root: real, left: vec![top], seen: 0 })
    }

    fn enter(&mut self, folder: &Entry) -> io::Result<()> {
        if folder.levels >= MOST_LEVELS {
            let message = format!("`{}` is nested too deeply", folder.path.display());
            return Err(io::Error::other(message));
        }
        let mut names = Vec::new();
        for child in fs::read_dir(&folder.path)? {
            self.seen += 1;
            if self.seen > MOST_ENTRIES {
                return Err(io::Error::other(format!("there are more than {MOST_ENTRIES} files")));
            }
            names.push(child?.file_name());
        }
        names.sort();
        for name in names.into_iter().rev() {
            let path = folder.path.join(&name);
            let kind = path.symlink_metadata()?.file_type();
            let mut fault = if kind.is_symlink() { self.link_fault(&path) } else { None };
            if name == ".git" {
                if !folder.in_pack {
                    continue;
                }
                let help = "copy the files without it: a pack is not a checkout";
                fault = Some(refused("a pack must not contain `.git`", help));
            }
            // A directory that a good symlink leads to is met at its own place.
            if kind.is_symlink() && fault.is_none() && !path.is_file() {
                continue;
            }
            let real = folder.real.join(&name);
            let in_pack = folder.in_pack || (kind.is_dir() && is_pack(&path));
            let (is_folder, levels) = (kind.is_dir(), folder.levels + 1);
            self.left.push(Entry { path, real, is_folder, in_pack, fault, levels });
        }
        Ok(())
    }

    /// A link may lead to another place of the same tree, by a relative path.
    fn link_fault(&self, path: &Path) -> Option<Diagnostic> {
        let help = "replace it with a copy";
        let target = fs::read_link(path).ok()?;
        if target.is_absolute() {
            return Some(refused("this symlink has an absolute target", help));
        }
        match path.canonicalize() {
            Ok(found) if found.starts_with(&self.root) => None,
            Ok(_) => Some(refused("this symlink leads out of the tree", help)),
            Err(_) => Some(refused("dangling symlink", "remove it")),
        }
    }
}

impl Iterator for Walk {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.left.pop()?;
        if entry.is_folder
            && entry.fault.is_none()
            && let Err(error) = self.enter(&entry)
        {
            self.left.clear();
            return Some(Err(error));
        }
        Some(Ok(entry))
    }
}

/// Whether a directory holds packs, is one, or is the stack of one.
fn is_pack(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "packs" || name == "stack")
        || folder.join("stack").is_dir()
}

fn refused(message: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Code::PackContent, Span::at(0), message).help(help)
}
