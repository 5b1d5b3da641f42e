//! The project around a source, and opening its files: each once, below a descriptor of its directory.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use opal_files::beneath;
use opal_files::trusted::{Trust, Untrusted};
use opal_plan::program::{Found, Identity, Missing, paths};

/// The directory that all files are below.
#[derive(Debug)]
pub(super) struct Project {
    /// Without symlinks.
    root: PathBuf,
    top: OwnedFd,
    /// Who may have written the files.
    trust: Trust,
}

impl Project {
    /// The nearest one around a directory, which has no symlinks in its path.
    pub(super) fn around(folder: &Path, trust: Trust) -> Option<Self> {
        let root = top_around(folder).to_owned();
        let top = beneath::directory(&root).ok()?;
        Some(Self { root, top, trust })
    }

    /// Reads a file that a file in `folder` names; never more than `limit` bytes and one.
    pub(super) fn open(
        &self,
        folder: &Path,
        path: &Path,
        limit: u64,
    ) -> Result<Found, Missing<Untrusted>> {
        let whole = paths::named(&self.root, folder, path)?;
        let unread = |error: io::Error| paths::unread(path, &error);
        let real = whole.canonicalize().map_err(unread)?;
        let Ok(below) = real.strip_prefix(&self.root) else {
            return Err(paths::outside(path, Some(&self.root)));
        };
        let opened = beneath::open(&self.top, below).map_err(unread)?;
        self.trust.check(&real, &opened).map_err(Missing::Stop)?;
        let facts = opened.file.metadata().map_err(unread)?;
        let mut bytes = Vec::new();
        opened.file.take(limit + 1).read_to_end(&mut bytes).map_err(unread)?;
        let identity = Identity::File { device: facts.dev(), number: facts.ino() };
        Ok(Found { bytes, path: real, identity })
    }
}

/// The top of the project around a directory, which has no symlinks in its path: the nearest one with an
/// `opal.mod` or a `.git`, or else the directory itself.
#[must_use]
pub fn top_around(folder: &Path) -> &Path {
    paths::top_around(folder, |path| path.symlink_metadata().is_ok())
}
