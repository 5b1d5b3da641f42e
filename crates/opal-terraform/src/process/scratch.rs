//! A directory that only this user can enter, for the socket and the temporary files of one provider.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// A name that is taken is passed over so many times.
const TRIES: u32 = 1000;

/// The longest path of a directory whose sockets can be named: the name of a socket follows.
const MAX_PATH: usize = 80;

/// What the names of such directories begin with; the number of the helper follows.
const START: &str = "opal-tf-";

/// Where such directories are made if the path of the usual place is too long for sockets.
const SHORT: &str = "/tmp";

/// Where such directories are made: in `usual`, if sockets can be named there.
#[must_use]
pub fn base(usual: PathBuf) -> PathBuf {
    // The numbers of the process and of the directory.
    const NAME: usize = "/opal-tf-4194304-1000".len();
    let length = usual.canonicalize().map_or(0, |path| path.as_os_str().len());
    if length + NAME <= MAX_PATH { usual } else { SHORT.into() }
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Removed with everything in it when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(base: &Path) -> io::Result<Self> {
        let base = base.canonicalize()?;
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("{START}{}-{number}", std::process::id()));
            if path.as_os_str().len() > MAX_PATH {
                return Err(io::Error::other("the path of the temporary directory is too long"));
            }
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let made = Self(path);
                    DirBuilder::new().mode(0o700).create(made.temporary())?;
                    return Ok(made);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.0.join("tmp")
    }
}

/// Removes what helpers have left that were killed: their processes are gone, and their providers with them.
pub fn sweep(base: &Path) {
    let Ok(all) = std::fs::read_dir(base) else { return };
    let user = rustix::process::geteuid().as_raw();
    for entry in all.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|it| it.strip_prefix(START)?.split('-').next());
        let Some(id) = number.and_then(|it| Pid::from_raw(it.parse().ok()?)) else { continue };
        let is_gone = test_kill_process(id) == Err(Errno::SRCH);
        let is_ours = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == user);
        if is_gone && is_ours {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
