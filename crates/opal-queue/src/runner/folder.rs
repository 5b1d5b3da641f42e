//! The directory of a share: contract, order and sources, for this user only.
//!
//! It is removed when the share ends. One that was left by a runner that was killed is removed at the next
//! start: nobody holds the lock in it any more, neither the runner nor the process of the share.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::io::{FdFlags, fcntl_setfd};
use tempfile::TempDir;

use super::prepared::Parts;
use crate::bundle::unpack;

const PREFIX: &str = "opal-share-";
const LOCK: &str = "lock";

/// It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    lock: File,
}

impl Folder {
    /// It takes a while where there are many sources.
    pub(super) fn make(parts: &Parts) -> io::Result<Self> {
        let made = Self::begin(&std::env::temp_dir())?;
        let at = |name: &str| made.path().join(name);
        fs::write(at("plan"), &parts.contract)?;
        fs::write(at("order"), &parts.line)?;
        if let Some(approvals) = &parts.approvals {
            fs::write(at("plan.approvals"), approvals)?;
        }
        DirBuilder::new().mode(0o700).create(at("source"))?;
        unpack(&parts.files, &at("source"))?;
        Ok(made)
    }

    fn begin(place: &Path) -> io::Result<Self> {
        let mut how = tempfile::Builder::new();
        let folder =
            how.prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(place)?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        lock.try_lock()?;
        Ok(Self { folder, lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a process that holds the lock too.
    pub(super) fn lend<T>(&self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        fcntl_setfd(&self.lock, FdFlags::empty())?;
        let started = start();
        fcntl_setfd(&self.lock, FdFlags::CLOEXEC)?;
        started
    }
}

/// Removes what runners of this user have left that were killed.
pub(super) fn sweep() {
    sweep_in(&std::env::temp_dir());
}

fn sweep_in(place: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_named = entry.file_name().to_str().is_some_and(|it| it.starts_with(PREFIX));
        let is_own = is_named
            && path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if !is_own {
            continue;
        }
        // One without a lock has only just begun.
        let Ok(lock) = opal_files::regular::open(&path.join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_that_nobody_holds_are_swept() {
        let place = tempfile::tempdir().unwrap();
        let held = Folder::begin(place.path()).unwrap();
        let left = Folder::begin(place.path()).unwrap();
        let gone = left.folder.keep();
        drop(left.lock);
        fs::write(gone.join("plan"), "x").unwrap();
        for other in ["opal-share-begun", "other"] {
            fs::create_dir(place.path().join(other)).unwrap();
        }
        std::os::unix::fs::symlink(held.path(), place.path().join("opal-share-link")).unwrap();
        sweep_in(place.path());
        assert!(!gone.exists() && held.path().join(LOCK).exists());
        for other in ["opal-share-begun", "other", "opal-share-link"] {
            assert!(place.path().join(other).symlink_metadata().is_ok(), "{other}");
        }
    }
}
