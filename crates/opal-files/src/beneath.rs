//! Opening a file below a directory: from a descriptor of the directory, name by name.
//!
//! No symlink is followed on the way, so that whoever swaps a name for a symlink meanwhile gets an
//! error and not another file.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::regular::{GENTLY, check};

/// A directory that may be entered and not listed will do, where the system can say so.
#[cfg(target_os = "linux")]
const ONLY_THERE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_THERE: OFlags = OFlags::RDONLY;

/// A file and the directory that it is in.
#[derive(Debug)]
pub struct Opened {
    pub file: File,
    pub directory: OwnedFd,
}

/// A directory, to open files below it.
pub fn directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | ONLY_THERE;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// A regular file at `path`, seen from the directory `top`.
pub fn open(top: impl AsFd, path: &Path) -> io::Result<Opened> {
    let (Some(above), Some(name)) = (path.parent(), path.components().next_back()) else {
        return Err(io::ErrorKind::IsADirectory.into());
    };
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | ONLY_THERE | OFlags::NOFOLLOW;
    let mut directory = top.as_fd().try_clone_to_owned()?;
    for part in above.components() {
        directory = rustix::fs::openat(&directory, part.as_os_str(), flags, Mode::empty())?;
    }
    let name = name.as_os_str();
    check(rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)?;
    let flags = GENTLY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&directory, name, flags, Mode::empty())?;
    check(rustix::fs::fstat(&file)?.st_mode)?;
    Ok(Opened { file: file.into(), directory })
}
