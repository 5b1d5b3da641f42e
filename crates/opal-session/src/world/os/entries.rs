//! What is at a path, as resources see it: whole paths, symlinks not followed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use opal_core::files::{Entry, EntryKind};
use opal_core::resolver::Trouble;

use crate::error::PathError;

pub(super) fn stat(path: &Path) -> Result<Option<Entry>, Trouble> {
    use io::ErrorKind::{NotADirectory, NotFound};
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        // Below a file nothing can be.
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
        Err(error) => return Err(unseen(path, &error)),
    };
    let kind = match found.file_type() {
        it if it.is_file() => EntryKind::File,
        it if it.is_dir() => EntryKind::Directory,
        it if it.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    };
    let mode = found.mode() & 0o7777;
    let (owner, group, bytes) = (found.uid(), found.gid(), found.len());
    Ok(Some(Entry { kind, mode, owner, group, bytes }))
}

pub(super) fn read_link(path: &Path) -> Result<PathBuf, Trouble> {
    fs::read_link(path).map_err(|error| unseen(path, &error))
}

pub(super) fn list(path: &Path) -> Result<Vec<OsString>, Trouble> {
    let entries = fs::read_dir(path).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()
    });
    let mut names = entries.map_err(|error| unseen(path, &error))?;
    names.sort();
    Ok(names)
}

fn unseen(path: &Path, error: &io::Error) -> Trouble {
    PathError::Stat { path: path.to_owned(), why: error.kind() }.into()
}
