//! The runtime root: the one directory that opal writes into, `~/.opal` unless another is named.
//!
//! Directories in it are the owner's alone (0700), files too (0600). A file appears complete or not
//! at all, and is never overwritten. What others could have read or changed is refused, as ssh
//! refuses it, with the `chmod` to type.
//!
//! Deliberately not here: where the root is. The command line knows, and says it.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Seek as _, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use opal_core::wiped::Wiped;
use rustix::fs::CWD;

use opal_files::atomic::Unfinished;
use opal_files::regular;

pub use crate::error::{ELSEWHERE, RootError, Why};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A directory under the root, `name` or `outer/inner`; what is missing on the way is made.
    pub fn directory(&self, name: &str) -> Result<PathBuf, RootError> {
        match self.guarded(name) {
            Err(RootError { why: Why::Missing, .. }) => {}
            found => return found,
        }
        for path in self.way(name) {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&path)
                .map_err(|error| RootError::making(&path, Why::NotADirectory, error))?;
        }
        self.guarded(name)
    }

    /// Whether a directory under the root is there and nobody else could have changed it.
    pub fn guarded(&self, name: &str) -> Result<PathBuf, RootError> {
        self.links()?;
        for path in self.way(name) {
            let metadata = fs::metadata(&path).map_err(|error| RootError::of(&path, error))?;
            if !metadata.is_dir() {
                return Err(RootError { path, why: Why::NotADirectory });
            }
            owned(&path, &metadata)?;
            let mode = metadata.mode() & 0o7777;
            if mode & 0o022 != 0 {
                return Err(RootError { path, why: Why::Writable(mode) });
            }
        }
        Ok(self.0.join(name))
    }

    /// Whether every link on the way to the root was made by this user or root: another user's link
    /// could lead anywhere, and elsewhere tomorrow.
    fn links(&self) -> Result<(), RootError> {
        let whole = std::path::absolute(&self.0).map_err(|error| RootError::of(&self.0, error))?;
        for path in whole.ancestors() {
            match fs::symlink_metadata(path) {
                Ok(found) if found.is_symlink() => owned(path, &found)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The root, and every directory from there to `name`.
    fn way(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let inner = name.split('/').scan(self.0.clone(), |path, part| {
            path.push(part);
            Some(path.clone())
        });
        std::iter::once(self.0.clone()).chain(inner)
    }

    /// A file in a directory under the root, in place of the one that is there, complete or not at all.
    pub fn replace(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<PathBuf, RootError> {
        let folder = self.directory(folder)?;
        let path = folder.join(name);
        let written = (|| {
            let mut file = Unfinished::beside(&path)?;
            file.write_all(bytes)?;
            file.file().sync_all()?;
            file.replace(CWD, &path)?;
            File::open(&folder)?.sync_all()
        })();
        written.map(|()| path.clone()).map_err(|error| RootError::of(&path, error))
    }

    /// A new file in a directory under the root, complete or not at all. One that is there is left
    /// alone, also where two processes make it at the same moment.
    pub fn create(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<PathBuf, RootError> {
        let folder = self.directory(folder)?;
        let path = folder.join(name);
        let written = (|| {
            let mut file = Unfinished::beside(&path)?;
            file.write_all(bytes)?;
            file.file().sync_all()?;
            file.add(CWD, &path)?;
            File::open(&folder)?.sync_all()
        })();
        match written {
            Ok(()) => Ok(path),
            Err(error) => Err(RootError::making(&path, Why::Exists, error)),
        }
    }
}

/// Reads a file that only its owner may read, at most `limit` bytes of it.
///
/// A pipe that opal was started with has no permissions worth the name and is read as it is, so
/// that `--identity <(…)` works.
pub fn read_private(path: &Path, limit: u64) -> Result<Wiped<Vec<u8>>, RootError> {
    let failed = |error| RootError::of(path, error);
    let file = regular::open_given(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_file() {
        owned(path, &metadata)?;
        let mode = metadata.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(RootError { path: path.into(), why: Why::Readable(mode) });
        }
    }
    read_limited(path, file, limit)
}

/// Reads a file that anybody may read, and nobody but us or the administrator could have changed.
pub fn read_guarded(path: &Path, limit: u64) -> Result<Wiped<Vec<u8>>, RootError> {
    read_limited(path, open_guarded(path)?, limit)
}

/// Opens such a file, to be read in parts.
pub fn open_guarded(path: &Path) -> Result<File, RootError> {
    let failed = |error| RootError::of(path, error);
    let file = regular::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    owned(path, &metadata)?;
    let mode = metadata.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(RootError { path: path.into(), why: Why::Writable(mode) });
    }
    Ok(file)
}

/// Reads a file that anybody may read, at most `limit` bytes of it.
pub fn read_public(path: &Path, limit: u64) -> Result<Wiped<Vec<u8>>, RootError> {
    let file = regular::open(path).map_err(|error| RootError::of(path, error))?;
    read_limited(path, file, limit)
}

/// The same for a file that was named on the command line, which may be a pipe opal was started with.
pub fn read_given(path: &Path, limit: u64) -> Result<Wiped<Vec<u8>>, RootError> {
    let file = regular::open_given(path).map_err(|error| RootError::of(path, error))?;
    read_limited(path, file, limit)
}

fn read_limited(path: &Path, file: File, limit: u64) -> Result<Wiped<Vec<u8>>, RootError> {
    let failed = |error| RootError::of(path, error);
    let found = file.metadata().map_err(failed)?;
    // A byte more than there is: whoever reads so many has not read all. All of the room is wiped later, so
    // there is not more of it.
    let most = limit.saturating_add(1);
    let room = if found.is_file() { most.min(found.len().saturating_add(1)) } else { most };
    let bytes = read_at_most(&file, room).map_err(failed)?;
    let bytes = match (bytes.len() as u64) < room || room == most {
        true => bytes,
        // It grows.
        false => {
            (&file).rewind().map_err(failed)?;
            read_at_most(&file, most).map_err(failed)?
        }
    };
    if bytes.len() as u64 > limit {
        return Err(RootError { path: path.into(), why: Why::TooLarge(limit) });
    }
    Ok(bytes)
}

/// With all its room from the start the buffer never moves, so no copy of a key remains.
fn read_at_most(file: &File, most: u64) -> io::Result<Wiped<Vec<u8>>> {
    let room = usize::try_from(most).unwrap_or(usize::MAX);
    let mut bytes = Wiped::new(Vec::with_capacity(room));
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Ours, or the administrator's, who can do everything anyway.
fn owned(path: &Path, metadata: &Metadata) -> Result<(), RootError> {
    let owner = metadata.uid();
    if owner == 0 || owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(RootError { path: path.into(), why: Why::Foreign(owner) })
}
