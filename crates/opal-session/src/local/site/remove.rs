//! Removing, never through a link and never into another file system.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use opal_core::resolver::{Trouble, TroubleKind};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::mounts;
use super::way::{Beginning, Gaps, Way};
use crate::error::{ChangeError, Obstacle, refused};

/// Directories within directories: each is held open while what is in it goes.
const MAX_DEPTH: usize = 256;

const DONE: &str = "removed";

pub(super) fn remove(from: &Beginning, path: &Path, recursive: bool) -> Result<(), Trouble> {
    let way = match Way::to(from, path, DONE, Gaps::Refuse) {
        Ok(way) => way,
        Err(trouble) if trouble.kind == TroubleKind::Missing => return Ok(()),
        Err(trouble) => return Err(trouble),
    };
    let Some(found) = way.stat()? else { return Ok(()) };
    if recursive {
        all(&way.parent, &way.name, path)?;
    } else if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
        remove_empty(&way.parent, &way.name, path)?;
    } else {
        unlink(&way.parent, &way.name, path)?;
    }
    way.sync();
    Ok(())
}

/// A name in a directory and all that is below it; `path` is what messages call it.
pub(super) fn all(parent: &OwnedFd, name: &OsStr, path: &Path) -> Result<(), Trouble> {
    demand_removable(parent, name, path)?;
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {}
        Ok(_) => return unlink(parent, name, path),
        Err(error) => return gone(Err(error), path),
    }
    let directory = open(parent, name, path)?;
    empty(&directory, path, device(&directory, path)?, 1)?;
    remove_empty(parent, name, path)
}

/// Walks all that is to go before any of it does: where something must stay, all of it does.
pub(super) fn demand_removable(parent: &OwnedFd, name: &OsStr, path: &Path) -> Result<(), Trouble> {
    mounts::refuse(DONE, parent, name, path)?;
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {}
        // Whoever removes it says what is wrong.
        _ => return Ok(()),
    }
    let directory = open(parent, name, path)?;
    survey(&directory, path, device(&directory, path)?, 1)
}

fn survey(directory: &OwnedFd, path: &Path, device: u64, depth: usize) -> Result<(), Trouble> {
    demand_shallow(path, depth)?;
    for (name, is_directory) in names(directory, path)? {
        let path = path.join(&name);
        mounts::refuse(DONE, directory, &name, &path)?;
        if is_directory {
            let below = open_within(directory, &name, &path, device)?;
            survey(&below, &path, device, depth + 1)?;
        }
    }
    Ok(())
}

/// Compared with the mounts once more: another process may have been faster. A file that became one
/// is busy.
fn empty(directory: &OwnedFd, path: &Path, device: u64, depth: usize) -> Result<(), Trouble> {
    demand_shallow(path, depth)?;
    mounts::refuse_held(DONE, directory, path)?;
    for (name, is_directory) in names(directory, path)? {
        let path = path.join(&name);
        if is_directory {
            let below = open_within(directory, &name, &path, device)?;
            empty(&below, &path, device, depth + 1)?;
            remove_empty(directory, &name, &path)?;
        } else {
            unlink(directory, &name, &path)?;
        }
    }
    Ok(())
}

fn demand_shallow(path: &Path, depth: usize) -> Result<(), Trouble> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(ChangeError::new(DONE, path, Obstacle::TooDeep { most: MAX_DEPTH }).into())
}

/// What a directory holds, and what of it are directories.
fn names(directory: &OwnedFd, path: &Path) -> Result<Vec<(OsString, bool)>, Trouble> {
    let failed = |error| refused(DONE, path, error);
    let mut names = Vec::new();
    for found in Dir::read_from(directory).map_err(failed)? {
        let found = found.map_err(failed)?;
        let name = OsStr::from_bytes(found.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match found.file_type() {
            FileType::Unknown => rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .map(|found| FileType::from_raw_mode(found.st_mode))
                .map_err(|error| refused(DONE, &path.join(name), error))?,
            known => known,
        };
        names.push((name.to_owned(), kind == FileType::Directory));
    }
    names.sort();
    Ok(names)
}

fn open(parent: &OwnedFd, name: &OsStr, path: &Path) -> Result<OwnedFd, Trouble> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty()).map_err(|error| match error {
        // With `DIRECTORY`, that is what a link gives too.
        Errno::NOTDIR => refused(DONE, path, Errno::LOOP),
        error => refused(DONE, path, error),
    })
}

/// A directory of the same file system.
fn open_within(
    parent: &OwnedFd,
    name: &OsStr,
    path: &Path,
    device: u64,
) -> Result<OwnedFd, Trouble> {
    let below = open(parent, name, path)?;
    if self::device(&below, path)? == device { Ok(below) } else { Err(mounts::mounted(DONE, path)) }
}

fn device(directory: &OwnedFd, path: &Path) -> Result<u64, Trouble> {
    let found = rustix::fs::fstat(directory).map_err(|error| refused(DONE, path, error))?;
    Ok(found.st_dev)
}

fn unlink(parent: &OwnedFd, name: &OsStr, path: &Path) -> Result<(), Trouble> {
    gone(rustix::fs::unlinkat(parent, name, AtFlags::empty()), path)
}

fn remove_empty(parent: &OwnedFd, name: &OsStr, path: &Path) -> Result<(), Trouble> {
    let removed = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
    let removed =
        removed.map_err(|error| if error == Errno::EXIST { Errno::NOTEMPTY } else { error });
    gone(removed, path)
}

/// What another has removed meanwhile is gone too.
fn gone(removed: Result<(), Errno>, path: &Path) -> Result<(), Trouble> {
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(refused(DONE, path, error)),
    }
}
