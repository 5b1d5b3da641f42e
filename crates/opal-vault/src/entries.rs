//! What is remembered of blocks that ran, under the runtime root: one file each, in `cache`.
//!
//! Deliberately not here: what an entry says, and whether this machine has made it.

use opal_core::gather;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use opal_files::atomic::{self, Unfinished};
use opal_files::regular;
use rustix::fs::CWD;

use crate::root::{Root, RootError};

/// The directory under the root.
const FOLDER: &str = "cache";

/// Bytes of one entry.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Entries that are kept: those that were written last.
const MAX_ENTRIES: usize = 1000;

/// The entry of this name; none where there is none that only this user can have written.
#[must_use]
pub fn read(root: &Root, name: &str) -> Option<Vec<u8>> {
    let path = root.guarded(FOLDER).ok()?.join(name);
    let file = regular::open(&path).ok()?;
    let length = file.metadata().ok().filter(|found| found.len() <= MAX_BYTES)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length).ok()?);
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Replaces the entry of this name, and drops the oldest where there are too many.
pub fn write(root: &Root, name: &str, bytes: &[u8]) -> Result<(), RootError> {
    let folder = root.directory(FOLDER)?;
    let path = folder.join(name);
    let written = (|| {
        let mut file = Unfinished::beside(&path)?;
        file.write_all(bytes)?;
        file.replace(CWD, &path)?;
        prune(&folder)
    })();
    written.map_err(|error| RootError::of(&path, error))
}

fn prune(folder: &Path) -> io::Result<()> {
    let mut entries: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !atomic::is_temporary(&entry.file_name()) {
            // One that is gone meanwhile need not be counted.
            let Ok(found) = entry.metadata() else { continue };
            entries.push((found.modified()?, entry.path()));
        }
    }
    let extra = entries.len().saturating_sub(MAX_ENTRIES);
    if extra > 0 {
        gather::sort_by(&mut entries, Ord::cmp);
        for (_, path) in &entries[..extra] {
            // Another process may have been quicker.
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_go_where_there_are_too_many() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path().join("root"));
        write(&root, "first", b"1").unwrap();
        let cache = folder.path().join("root/cache");
        let long_ago = SystemTime::UNIX_EPOCH;
        fs::File::options()
            .write(true)
            .open(cache.join("first"))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        for index in 1..MAX_ENTRIES {
            fs::write(cache.join(format!("e{index}")), b"").unwrap();
        }
        assert_eq!(read(&root, "first").as_deref(), Some(&b"1"[..]));
        write(&root, "last", b"2").unwrap();
        assert_eq!(read(&root, "first"), None);
        assert_eq!(read(&root, "last").as_deref(), Some(&b"2"[..]));
        assert_eq!(fs::read_dir(cache).unwrap().count(), MAX_ENTRIES);
    }
}
