//! Why a file of opal, or a record, cannot be used. All messages of this crate are here, each with the way
//! forward.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use opal_core::keys::{KeyError, KeyErrorKind};
use opal_files::regular;

/// The option that names another root, for every command: some have a `--root` of their own.
pub const ELSEWHERE: &str = "`OPAL_ROOT=DIR`, or `--root DIR` before the command";

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
    /// This line is not what was written there.
    Damaged(usize),
    Io(io::Error),
}

/// A record that is not what a record should be.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub why: Unread,
}

#[derive(Debug)]
pub enum Unread {
    Io(io::Error),
    /// This line is not an event, or the file is not a summary.
    Malformed {
        line: usize,
    },
    /// More bytes than such a file has.
    TooLarge,
}

/// A record cannot be written.
#[derive(Debug)]
pub struct Unwritten(pub(crate) RootError);

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
    pub(crate) fn making(path: &Path, taken: Why, error: io::Error) -> Self {
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
            Why::Damaged(_) => {
                format!("nobody knows what it said: if it may go, remove it from `{path}`")
            }
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
            Why::Damaged(line) => write!(f, "line {line} of `{path}` cannot be read"),
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

impl Unreadable {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self { path: path.into(), why: Unread::Io(error) }
    }

    /// The way forward.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.why {
            Unread::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                "the record may just have been pruned: see `opal runs list`".into()
            }
            Unread::Io(_) => format!("check it with `ls -l {}`", self.path.display()),
            Unread::Malformed { .. } | Unread::TooLarge => {
                "it was changed after it was written; read what is left as text".into()
            }
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.why {
            Unread::Io(error) => write!(f, "the record `{path}` cannot be read: {error}"),
            Unread::Malformed { line } => {
                write!(f, "line {line} of the record `{path}` is damaged")
            }
            Unread::TooLarge => write!(f, "the record `{path}` is larger than opal writes"),
        }
    }
}

impl std::error::Error for Unreadable {}

impl Unwritten {
    /// Whether others could read or change what would be written: a reason to stop, with or
    /// without a record.
    #[must_use]
    pub fn is_unsafe(&self) -> bool {
        self.0.is_unsafe()
    }

    /// What is in the way.
    #[must_use]
    pub fn cause(&self) -> &RootError {
        &self.0
    }

    /// The way forward.
    #[must_use]
    pub fn help(&self) -> String {
        self.0.help()
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the record of this run cannot be written: {}", self.0)
    }
}

impl std::error::Error for Unwritten {}
