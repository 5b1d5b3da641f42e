//! The files below a directory, within limits.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

const MOST_ENTRIES: usize = 1000;
const MOST_BYTES: u64 = 16 << 20;
const DEEPEST: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Walk {
    /// In the order of their names, with their lengths.
    pub(super) files: Vec<(PathBuf, u64)>,
    /// What was not checked, and why.
    pub(super) left_out: Vec<String>,
    entries: usize,
    bytes: u64,
    open: VecDeque<(PathBuf, usize)>,
}

impl Walk {
    /// What is near comes first. A symlink to a file counts as a file; a symlink to a directory
    /// leads elsewhere, or in a cycle, and is ignored. A directory that is not there has no files.
    pub(super) fn of(folder: &Path) -> Self {
        let mut walk = Self::default();
        walk.open.push_back((folder.to_owned(), 0));
        while let Some((folder, depth)) = walk.open.pop_front() {
            match walk.enter(&folder, depth) {
                Err(error) if depth > 0 || error.kind() != io::ErrorKind::NotFound => {
                    walk.leave_out(&folder, &error.to_string());
                }
                _ => {}
            }
        }
        walk.files.sort();
        walk
    }

    fn enter(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                self.open.clear();
                self.leave_out(folder, &format!("there are more than {MOST_ENTRIES} files"));
                return Ok(());
            }
            self.take(&entry?, depth)?;
        }
        Ok(())
    }

    fn take(&mut self, entry: &DirEntry, depth: usize) -> io::Result<()> {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            match depth < DEEPEST {
                true => self.open.push_back((path, depth + 1)),
                false => self.leave_out(&path, &format!("it is more than {DEEPEST} levels deep")),
            }
            return Ok(());
        }
        // A dangling symlink is not a file, and neither is a pipe.
        let Some(metadata) = path.metadata().ok().filter(|it| it.is_file()) else { return Ok(()) };
        if self.bytes.saturating_add(metadata.len()) > MOST_BYTES {
            let why = format!("there are more than {} MiB before it", MOST_BYTES >> 20);
            self.leave_out(&path, &why);
            return Ok(());
        }
        self.bytes += metadata.len();
        self.files.push((path, metadata.len()));
        Ok(())
    }

    fn leave_out(&mut self, path: &Path, why: &str) {
        self.left_out.push(format!("the content of `{}` is not hidden: {why}", path.display()));
    }
}
