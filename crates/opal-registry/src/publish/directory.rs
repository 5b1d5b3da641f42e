//! A static registry in a directory of this machine.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};

use opal_files::atomic::{self, Unfinished};
use opal_files::{SystemError, regular};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::store::{Found, Store};
use crate::refusal::Refusal;

/// What the name of a directory begins with that is being written.
const NEW: &str = ".opal-new-";

#[derive(Debug)]
pub(super) struct Directory {
    top: PathBuf,
    /// Locked: one author at a time.
    _top: File,
}

impl Directory {
    /// Makes it where it does not exist, and waits for its lock.
    pub(super) fn open(top: &Path) -> Result<Self, Refusal> {
        let failed = |error: io::Error| unwritten(top, &error);
        make(top).map_err(failed)?;
        let file = File::open(top).map_err(failed)?;
        flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        Ok(Self { top: top.to_owned(), _top: file })
    }
}

impl Store for Directory {
    fn get(&self, path: &str, most: u64) -> Result<Option<Found>, Refusal> {
        let path = self.top.join(path);
        let broken = |why: String| {
            let message = format!("`{}` of the registry cannot be read: {why}", path.display());
            Refusal::unavailable(message, "check the directory of the registry")
        };
        let file = match regular::open(&path) {
            Ok(file) => file,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(broken(SystemError(&error).to_string())),
        };
        let mut bytes = Vec::new();
        file.take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| broken(SystemError(&error).to_string()))?;
        match bytes.len() as u64 > most {
            true => Err(broken("it is too large".to_owned())),
            false => Ok(Some(Found { bytes, tag: None })),
        }
    }

    fn put_version(&self, path: &str, files: &[(&str, &[u8])]) -> Result<(), Refusal> {
        let path = self.top.join(path);
        let parent = path.parent().unwrap_or(&self.top);
        let written = (|| {
            make(parent)?;
            sweep(parent)?;
            let new = tempfile::Builder::new().prefix(NEW).tempdir_in(parent)?;
            let inner = new.path().join("version");
            make(&inner)?;
            for (name, bytes) in files {
                let mut options = OpenOptions::new();
                let mut file =
                    options.write(true).create_new(true).mode(0o644).open(inner.join(name))?;
                file.write_all(bytes)?;
                file.sync_all()?;
            }
            File::open(&inner)?.sync_all()?;
            // Nothing lists it, so an author was interrupted.
            if path.symlink_metadata().is_ok() {
                fs::rename(&path, new.path().join("old"))?;
            }
            fs::rename(&inner, &path)?;
            File::open(parent)?.sync_all()
        })();
        written.map_err(|error| unwritten(&path, &error))
    }

    fn put(&self, path: &str, bytes: &[u8], _: Option<&Found>) -> Result<(), Refusal> {
        let path = self.top.join(path);
        let written = (|| -> io::Result<()> {
            make(path.parent().unwrap_or(&self.top))?;
            let usual = atomic::usual_mode(atomic::directory_of(&path)?)?;
            let mut file = Unfinished::beside(&path)?;
            file.write_all(bytes)?;
            file.file().set_permissions(PermissionsExt::from_mode(0o644 & usual))?;
            file.file().sync_all()?;
            file.replace(rustix::fs::CWD, &path).map_err(Errno::into)
        })();
        written.map_err(|error| unwritten(&path, &error))
    }

    fn is_own(&self) -> bool {
        true
    }
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}

/// Removes what an author left who was interrupted. The lock is held, so nobody is writing it.
fn sweep(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(NEW) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn unwritten(path: &Path, error: &io::Error) -> Refusal {
    Refusal::unwritten(&format!("`{}`", path.display()), error)
}
