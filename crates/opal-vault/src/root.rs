//! The runtime root: the one directory that opal writes into, `~/.opal` unless another is named.
//!
//! Directories in it are the owner's alone (0700), files too (0600). A file appears complete or not
//! at all, and is never overwritten. What others could have read or changed is refused, as ssh
//! refuses it, with the `chmod` to type.
//!
//! Deliberately not here: where the root is. The command line knows, and says it.

use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use opal_core::keys::{KeyError, KeyErrorKind};
use rustix::fs::CWD;
use zeroize::Zeroizing;

use opal_files::atomic::Unfinished;
use opal_files::regular;

/// The option that names another root, for every command: some have a `--root` of their own.
pub const ELSEWHERE: &str = "`OPAL_ROOT=DIR`, or `--root DIR` before the command";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

/// Why something under the root cannot be used.
#[derive(Debug)]
pub struct RootError {
    pub path: PathBuf,
    pub why: Why,
}

#[derive(Debug)]
pub enum Why {
    Missing,
    /// It is there already, and nothing is overwritten.
    Exists,
    NotADirectory,
    NotAFile,
    /// Others than the owner could read it; its permission bits.
    Readable(u32),
    /// Others than the owner could change it; its permission bits.
    Writable(u32),
    /// It belongs to this other user.
    Foreign(u32),
    /// More bytes than such a file can have.
    TooLarge(u64),
    Io(io::Error),
}

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
pub fn read_private(path: &Path, limit: u64) -> Result<Zeroizing<Vec<u8>>, RootError> {
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
pub fn read_guarded(path: &Path, limit: u64) -> Result<Zeroizing<Vec<u8>>, RootError> {
    let failed = |error| RootError::of(path, error);
    let file = regular::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    owned(path, &metadata)?;
    let mode = metadata.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(RootError { path: path.into(), why: Why::Writable(mode) });
    }
    read_limited(path, file, limit)
}

/// Reads a file that anybody may read, at most `limit` bytes of it.
pub fn read_public(path: &Path, limit: u64) -> Result<Zeroizing<Vec<u8>>, RootError> {
    let file = regular::open(path).map_err(|error| RootError::of(path, error))?;
    read_limited(path, file, limit)
}

/// The same for a file that was named on the command line, which may be a pipe opal was started with.
pub fn read_given(path: &Path, limit: u64) -> Result<Zeroizing<Vec<u8>>, RootError> {
    let file = regular::open_given(path).map_err(|error| RootError::of(path, error))?;
    read_limited(path, file, limit)
}

fn read_limited(path: &Path, file: File, limit: u64) -> Result<Zeroizing<Vec<u8>>, RootError> {
    // With all its room from the start the buffer never moves, so no copy of a key remains.
    let room = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| RootError::of(path, error))?;
    if bytes.len() as u64 > limit {
        return Err(RootError { path: path.into(), why: Why::TooLarge(limit) });
    }
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

impl RootError {
    pub(crate) fn of(path: &Path, error: io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound => Why::Missing,
            io::ErrorKind::IsADirectory => Why::NotAFile,
            io::ErrorKind::NotADirectory => Why::NotADirectory,
            _ if regular::is_irregular(&error) => Why::NotAFile,
            _ => Why::Io(error),
        };
        Self { path: path.into(), why }
    }

    /// `taken` says what it means that the name is in use.
    fn making(path: &Path, taken: Why, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self { path: path.into(), why: taken },
            // The name of a temporary file tells the reader nothing.
            kind if error.raw_os_error().is_none() => Self::of(path, kind.into()),
            _ => Self::of(path, error),
        }
    }

    /// Another user could have read, written or made it, so it is not trusted.
    #[must_use]
    pub fn is_unsafe(&self) -> bool {
        matches!(self.why, Why::Readable(_) | Why::Writable(_) | Why::Foreign(_))
    }

    /// The way forward.
    #[must_use]
    pub fn help(&self) -> String {
        let path = self.path.display();
        match &self.why {
            Why::Missing => "check the path".into(),
            Why::Exists => "choose another name, or move the old one away first".into(),
            Why::NotADirectory => {
                format!("name a directory: {ELSEWHERE}")
            }
            Why::NotAFile => format!("check it with `ls -ld {path}`, and name a file"),
            Why::Readable(_) => {
                format!("if no one has read it, run `chmod 600 {path}`; otherwise make a new one")
            }
            Why::Writable(_) => format!("run `chmod go-w {path}`, and check its content"),
            Why::Foreign(_) => {
                format!("check it with `ls -ld {path}`, or use another directory: {ELSEWHERE}")
            }
            Why::TooLarge(_) => "check that it is the right file".into(),
            Why::Io(error) => match error.kind() {
                io::ErrorKind::StorageFull => "free some space and try again".into(),
                _ => format!(
                    "check the permissions of `{path}`, or use another directory: {ELSEWHERE}"
                ),
            },
        }
    }
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.why {
            Why::Missing => write!(f, "`{path}` does not exist"),
            Why::Exists => write!(f, "`{path}` already exists and is never overwritten"),
            Why::NotADirectory => write!(f, "`{path}` is not a directory"),
            Why::NotAFile => write!(f, "`{path}` is not a regular file"),
            Why::Readable(mode) => {
                write!(f, "`{path}` is accessible to users other than its owner (mode {mode:04o})")
            }
            Why::Writable(mode) => {
                write!(f, "`{path}` is writable by users other than its owner (mode {mode:04o})")
            }
            Why::Foreign(owner) => write!(f, "`{path}` belongs to another user (uid {owner})"),
            Why::TooLarge(limit) => write!(f, "`{path}` is larger than {limit} bytes"),
            Why::Io(error) => write!(f, "`{path}` cannot be used: {error}"),
        }
    }
}

impl std::error::Error for RootError {}

impl From<RootError> for KeyError {
    fn from(error: RootError) -> Self {
        let kind = match error.why {
            _ if error.is_unsafe() => KeyErrorKind::Exposed,
            Why::Missing => KeyErrorKind::Missing,
            Why::Exists => KeyErrorKind::Exists,
            Why::TooLarge(_) => KeyErrorKind::Invalid,
            _ => KeyErrorKind::Unreachable,
        };
        Self::new(kind, error.to_string(), error.help())
    }
}
