//! A provider of the cache, opened once: what was checked is what is executed.
//!
//! A file with the device, inode, size and times of the last check is the same file. Otherwise its
//! digest decides.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::package::dirhash::{self, MAX_BYTES};
use crate::package::{Rejected, hex};

/// A program, and the descriptor that it is executed from.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    file: Option<Arc<File>>,
    /// What tells a file apart from another one, or from itself after a change.
    pub stamp: String,
}

impl Program {
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor that it is executed from.
    pub fn descriptor(&self) -> io::Result<Option<File>> {
        self.file.as_ref().map(|file| file.try_clone()).transpose()
    }
}

/// A program that nobody checked: for tests, which make their own.
impl From<PathBuf> for Program {
    fn from(path: PathBuf) -> Self {
        Self { path, file: None, stamp: String::new() }
    }
}

/// Opens a program. `hash` is `h1:` of its directory, or `sha256:` of the file itself; `stamp` is that of
/// the last check.
pub fn open(path: &Path, hash: Option<&str>, stamp: Option<&str>) -> Result<Program, Rejected> {
    let failed = |error: io::Error| Rejected::failed(&format!("`{}`", path.display()), &error);
    let file = dirhash::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    let own = rustix::process::geteuid().as_raw();
    let may_write = found.mode() & 0o022 != 0 || (found.uid() != own && found.uid() != 0);
    if !found.is_file() || may_write {
        let why = "the provider is not a file that only you can write";
        return Err(Rejected::untrusted(why));
    }
    let now = format!(
        "{}:{}:{}:{}.{}",
        found.dev(),
        found.ino(),
        found.size(),
        found.ctime(),
        found.ctime_nsec()
    );
    if let Some(hash) = hash.filter(|_| stamp != Some(&now)) {
        let is = match hash.split_once(':') {
            Some(("h1", _)) => {
                let directory = path.parent().unwrap_or(path);
                dirhash::of_directory(directory).map_err(failed)?
            }
            _ => {
                let (digest, _) = dirhash::of_file(&file, MAX_BYTES).map_err(failed)?;
                format!("sha256:{}", hex(&digest))
            }
        };
        if is != hash {
            return Err(Rejected::untrusted("the provider has changed since it was accepted"));
        }
    }
    Ok(Program { path: path.to_owned(), file: Some(Arc::new(file)), stamp: now })
}
