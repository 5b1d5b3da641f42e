//! A directory that only this user can enter, for the socket and the temporary files of one provider.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A name that is taken is passed over so many times.
const TRIES: u32 = 1000;

/// The longest path of a directory whose sockets can be named: the name of a socket follows.
const MAX_PATH: usize = 80;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Removed with everything in it when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(base: &Path) -> io::Result<Self> {
        let base = base.canonicalize()?;
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("opal-tf-{}-{number}", std::process::id()));
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

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
