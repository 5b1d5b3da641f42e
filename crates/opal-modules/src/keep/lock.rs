//! One run of a module instance at a time.
//!
//! The lock is on a file beside the state, which stays: a lock file that is removed while another
//! process opens it would lock nobody out.
//!
//! The tools of a run inherit it. Where opal is killed and a tool goes on, the system lets go of the
//! lock when the last of them has ended; where opal comes to its end, that lets go of it, and what a
//! tool has left running on purpose locks nobody out.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::FdFlags;

use super::file::{self, Unkept};

/// Held for a run; let go when it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: OwnedFd,
}

/// Why there is no lock.
#[derive(Debug)]
pub enum NoLock {
    /// Another run has it: the state that is locked.
    Busy(PathBuf),
    Unkept(Unkept),
}

impl Lock {
    /// Takes the lock of a state.
    pub fn take(state: &Path) -> Result<Self, NoLock> {
        // A reader of the state holds the lock only for a moment.
        const TRIES: usize = 10;
        const PAUSE: Duration = Duration::from_millis(10);
        let path = lock_path(state);
        let opened = path.parent().map_or(Ok(()), file::folder).and_then(|()| {
            options().write(true).create(true).truncate(false).mode(0o600).open(&path)
        });
        let file = opened.and_then(|file| inherited(&file));
        let file = file.map_err(|error| NoLock::Unkept(Unkept::new(&path, error)))?;
        let exclusive = FlockOperation::NonBlockingLockExclusive;
        for _ in 0..TRIES {
            if claim(&file, state, exclusive).map_err(NoLock::Unkept)? {
                return Ok(Self { file });
            }
            thread::sleep(PAUSE);
        }
        Err(NoLock::Busy(state.into()))
    }

    /// Whether nobody has the lock of a state. Changes nothing, so that whoever may read can ask.
    pub(super) fn is_free(state: &Path) -> Result<bool, Unkept> {
        let path = lock_path(state);
        match options().open(&path) {
            Ok(file) => claim(&file, state, FlockOperation::NonBlockingLockShared),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(Unkept::new(&path, error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Of whoever has inherited it too. Where that fails, their end does it.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

/// The same file, for every process that is started from here on: only those of the run are. Scripts
/// use the numbers up to 9 as they like.
fn inherited(file: &File) -> io::Result<OwnedFd> {
    const LOWEST: i32 = 10;
    let file = rustix::io::fcntl_dupfd_cloexec(file, LOWEST)?;
    rustix::io::fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}

fn lock_path(state: &Path) -> PathBuf {
    state.with_extension("lock")
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// Whether it could be had.
fn claim(file: impl AsFd, state: &Path, how: FlockOperation) -> Result<bool, Unkept> {
    match rustix::fs::flock(file, how) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(Unkept::new(&lock_path(state), error.into())),
    }
}

impl NoLock {
    /// The way forward.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Busy(path) => format!(
                "wait for it to end (`{}` names the run), or run another instance with \
                 `--state-instance NAME`",
                path.display()
            ),
            Self::Unkept(unkept) => unkept.help(),
        }
    }
}

impl fmt::Display for NoLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(_) => f.write_str("another run of this module instance is in progress"),
            Self::Unkept(unkept) => unkept.fmt(f),
        }
    }
}

impl std::error::Error for NoLock {}
