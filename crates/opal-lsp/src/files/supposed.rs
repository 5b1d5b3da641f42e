//! The files as they would be if some of them had other texts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use opal_plan::program::Identity;

use super::Files;
use crate::disk::Stamp;
use crate::program::Sources;

/// The files with other texts than they have.
pub(super) struct Supposed<'s> {
    pub(super) files: &'s Files,
    pub(super) texts: &'s BTreeMap<PathBuf, String>,
}

impl Sources for Supposed<'_> {
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.real(path)
    }

    fn top(&self, folder: &Path) -> PathBuf {
        self.files.top(folder)
    }

    fn may_read(&self, real: &Path) -> bool {
        self.files.may_read(real)
    }

    fn bytes(&self, real: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.texts.get(real) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.files.bytes(real, limit),
        }
    }

    fn identity(&self, real: &Path) -> Identity {
        self.files.identity(real)
    }

    fn stamp(&self, real: &Path) -> Stamp {
        self.files.stamp(real)
    }

    fn shown(&self, real: &Path) -> PathBuf {
        self.files.shown(real)
    }
}
