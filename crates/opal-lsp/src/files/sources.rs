//! The files as a program is made of them: what is open comes before what is on the disk.

use std::io;
use std::path::{Path, PathBuf};

use opal_plan::program::{Identity, paths};

use super::Files;
use crate::disk::Stamp;
use crate::program::Sources;

impl Sources for Files {
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match self.disk.existing(path) {
            Err(error) => match self.open.contains_key(path) {
                true => Ok(path.to_owned()),
                false => Err(error),
            },
            found => found,
        }
    }

    fn top(&self, folder: &Path) -> PathBuf {
        paths::top_around(folder, |path| self.disk.is_there(path)).to_owned()
    }

    fn may_read(&self, real: &Path) -> bool {
        self.disk.contains(real)
    }

    fn bytes(&self, real: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.open.get(real) {
            Some(document) => Ok(document.text.text.as_bytes().to_vec()),
            None => self.disk.read(real, limit),
        }
    }

    fn identity(&self, real: &Path) -> Identity {
        self.disk.identity(real)
    }

    fn stamp(&self, real: &Path) -> Stamp {
        match self.open.get(real) {
            Some(document) => document.stamp.clone(),
            None => self.disk.stamp(real),
        }
    }

    fn shown(&self, real: &Path) -> PathBuf {
        self.disk.shown(real)
    }
}
