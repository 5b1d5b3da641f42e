//! Files that get their name when they are complete.
//!
//! On Linux the file has no name while it is written, so a process that is killed leaves nothing. To
//! replace another file it gets a temporary name right before the rename. Where the file system has
//! no unnamed files, it has that name from the start.
//!
//! The writer holds a lock (`flock`) on the file. What has a temporary name and no lock is left over
//! from a killed process; the next write into the directory removes it.

mod sweep;

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

pub use sweep::is_temporary;

/// After so many names that are taken, it fails.
const MAX_TRIES: usize = 32;

/// What every temporary name begins with.
const PREFIX: &str = ".opal-";

/// What the name of a file ends with whose writer holds a lock.
const LOCKED: &str = ".new";

/// What the name of a symbolic link ends with.
const LINK: &str = ".link";

/// A descriptor of a directory that needs no permission to read it, where the system has that.
#[cfg(target_os = "linux")]
const ONLY_THERE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_THERE: OFlags = OFlags::RDONLY;

/// A file that is being written. Dropping it removes it.
#[derive(Debug)]
pub struct Unfinished {
    parent: OwnedFd,
    /// Its temporary name, while it has one.
    name: Option<OsString>,
    file: File,
}

impl Unfinished {
    /// A new file in a directory that is held open. Only its owner can read it.
    pub fn within(parent: impl AsFd) -> Result<Self, Errno> {
        let parent = rustix::io::fcntl_dupfd_cloexec(parent, 0)?;
        sweep::once(&parent);
        match unnamed(&parent) {
            Some(file) => Ok(Self { parent, name: None, file }),
            None => Self::named(parent),
        }
    }

    /// A new file in the directory of `path`.
    pub fn beside(path: &Path) -> io::Result<Self> {
        Ok(Self::within(directory_of(path)?)?)
    }

    fn named(parent: OwnedFd) -> Result<Self, Errno> {
        let (name, file) = new_name(LOCKED, |name| {
            let file = create(&parent, name, 0o600)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // A sweep was faster, and removes it.
                Err(Errno::WOULDBLOCK) => Err(Errno::EXIST),
                Ok(()) if rustix::fs::fstat(&file)?.st_nlink == 0 => Err(Errno::EXIST),
                // Where there are no locks, no sweep gets one either.
                _ => Ok(file),
            }
        })?;
        Ok(Self { parent, name: Some(name), file })
    }

    /// What is written, opened for reading too.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives it the name `path`, seen from `at`, in one move; a file of that name is replaced.
    pub fn replace(mut self, at: impl AsFd, path: &Path) -> Result<(), Errno> {
        let name = match self.name.take() {
            Some(name) => name,
            None => new_name(LOCKED, |name| link(&self.file, &self.parent, Path::new(name)))?.0,
        };
        let renamed = rustix::fs::renameat(&self.parent, &name, at, path);
        self.name = renamed.is_err().then_some(name);
        renamed
    }

    /// Gives it the name `path`, seen from `at`, in one move, unless something has it.
    pub fn add(mut self, at: impl AsFd, path: &Path) -> Result<(), Errno> {
        let Some(name) = &self.name else { return link(&self.file, at, path) };
        let at = at.as_fd();
        match rustix::fs::renameat_with(&self.parent, name, at, path, RenameFlags::NOREPLACE) {
            // The file system cannot do it in one call; the drop removes the other name.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(&self.parent, name, at, path, AtFlags::empty())
            }
            Ok(()) => {
                self.name = None;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(&self.parent, name, AtFlags::empty());
        }
    }
}

/// The directory that `path` is in, held open.
pub fn directory_of(path: &Path) -> io::Result<OwnedFd> {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    };
    let flags = ONLY_THERE | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, parent, flags, Mode::empty())?)
}

/// The mode that a new file gets in a directory, found with one that never holds anything: nobody
/// can have opened what is written later. It has a name, because older kernels ignore the umask for
/// files without one.
pub fn usual_mode(parent: impl AsFd) -> Result<u32, Errno> {
    let (name, file) = new_name(LOCKED, |name| create(&parent, name, 0o666))?;
    let mode = rustix::fs::fstat(&file).map(|found| found.st_mode & 0o7777);
    match rustix::fs::unlinkat(&parent, &name, AtFlags::empty()) {
        // A sweep was faster.
        Ok(()) | Err(Errno::NOENT) => mode,
        Err(error) => Err(error),
    }
}

/// Makes a symbolic link under a temporary name, which is returned.
pub fn link_to(target: &Path, parent: impl AsFd) -> Result<OsString, Errno> {
    let made = new_name(LINK, |name| rustix::fs::symlinkat(target, &parent, name));
    made.map(|(name, ())| name)
}

fn create(parent: impl AsFd, name: &OsString, mode: u32) -> Result<File, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::from_raw_mode(mode)).map(File::from)
}

/// Does something under a name that nothing has.
fn new_name<T>(
    end: &str,
    mut make: impl FnMut(&OsString) -> Result<T, Errno>,
) -> Result<(OsString, T), Errno> {
    for _ in 0..MAX_TRIES {
        let name = OsString::from(format!("{PREFIX}{:016x}{end}", RandomState::new().hash_one(0)));
        match make(&name) {
            Err(Errno::EXIST) => {}
            made => return made.map(|made| (name, made)),
        }
    }
    Err(Errno::EXIST)
}

/// A locked file without a name that can get one later; none where the system cannot do that.
#[cfg(target_os = "linux")]
fn unnamed(parent: &OwnedFd) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::openat(parent, ".", flags, Mode::from_raw_mode(0o600)).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    // Without `/proc` it could not get a name.
    let (own, seen) = (rustix::fs::fstat(&file).ok()?, rustix::fs::stat(descriptor(&file)).ok()?);
    ((own.st_dev, own.st_ino) == (seen.st_dev, seen.st_ino)).then(|| File::from(file))
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &OwnedFd) -> Option<File> {
    None
}

/// Gives a file without a name one that nothing has.
fn link(file: &File, at: impl AsFd, path: &Path) -> Result<(), Errno> {
    rustix::fs::linkat(CWD, descriptor(file), at, path, AtFlags::SYMLINK_FOLLOW)
}

fn descriptor(file: impl AsFd) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

#[cfg(test)]
mod tests;
