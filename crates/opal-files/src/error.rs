//! Why a file is not opened or not trusted, in words.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a file cannot be used; inside of an `io::Error`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileError {
    NotRegular {
        what: &'static str,
    },
    /// In bytes.
    TooLarge {
        limit: u64,
    },
    /// A named pipe that nobody reads.
    NoReader,
}

/// Why a file is not used.
#[derive(Debug)]
pub enum Untrusted {
    /// This belongs to another user.
    Foreign(PathBuf, u32),
    /// Others may write to this; its permission bits.
    Writable(PathBuf, u32),
    /// This cannot be examined.
    Unknown(PathBuf, io::Error),
}

/// What the system says, in its words and without its number, which says nothing more.
#[derive(Debug)]
pub struct SystemError<'e>(pub &'e io::Error);

impl fmt::Display for SystemError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let number = self.0.raw_os_error().map(|code| format!(" (os error {code})"));
        f.write_str(number.and_then(|it| text.strip_suffix(&it)).unwrap_or(&text))
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRegular { what } => write!(f, "it is {what}, not a regular file"),
            Self::TooLarge { limit } => write!(f, "it is larger than {limit} bytes"),
            Self::NoReader => f.write_str("the named pipe has no reader"),
        }
    }
}

impl std::error::Error for FileError {}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = match error {
            FileError::NotRegular { .. } => io::ErrorKind::InvalidInput,
            FileError::TooLarge { .. } | FileError::NoReader => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign(path, uid) => {
                write!(f, "`{}` belongs to another user (uid {uid})", path.display())
            }
            Self::Writable(path, mode) => {
                write!(f, "`{}` is writable by other users (mode {mode:04o})", path.display())
            }
            Self::Unknown(path, error) => {
                write!(f, "`{}` cannot be examined: {error}", path.display())
            }
        }
    }
}
