//! File systems that are mounted within a tree: what is in them is not part of it.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use opal_core::resolver::Trouble;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::error::{ChangeError, Obstacle, refused};

/// Fails where a file system begins at a name in a directory, be it a part of the same one that is
/// seen there once more.
pub(super) fn refuse(
    done: &'static str,
    parent: &OwnedFd,
    name: &OsStr,
    path: &Path,
) -> Result<(), Trouble> {
    match is_mounted(parent, name) {
        Ok(false) | Err(Errno::NOENT) => Ok(()),
        Ok(true) => Err(mounted(done, path)),
        Err(error) => Err(refused(done, path, error)),
    }
}

/// The same for a directory that is held.
pub(super) fn refuse_held(done: &'static str, held: &OwnedFd, path: &Path) -> Result<(), Trouble> {
    refuse(done, held, OsStr::new(""), path)
}

pub(super) fn mounted(done: &'static str, path: &Path) -> Trouble {
    ChangeError::new(done, path, Obstacle::Mounted).into()
}

#[cfg(target_os = "linux")]
fn is_mounted(parent: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    use rustix::fs::{StatxAttributes, StatxFlags};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::EMPTY_PATH;
    match rustix::fs::statx(parent, name, flags, StatxFlags::TYPE) {
        Ok(found) if found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT) => {
            Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
        }
        Ok(_) | Err(Errno::NOSYS) => is_other_device(parent, name),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn is_mounted(parent: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    is_other_device(parent, name)
}

/// All that an older system tells: nothing of a directory that is held by itself.
fn is_other_device(parent: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    if name.is_empty() {
        return Ok(false);
    }
    let found = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(found.st_dev != rustix::fs::fstat(parent)?.st_dev)
}
