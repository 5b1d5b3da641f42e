//! What is wrong with packages and the files that name them.

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;

use opal_core::message::Reason;

use crate::package::PackagePath;

/// Why files are not a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageError {
    /// A path that a package cannot have.
    Path(String),
    /// A file that does not belong in a package.
    Foreign(PackagePath),
    /// The same path twice, but for case, or once as a file and once as a directory.
    Twice(PackagePath),
    /// A link, a pipe, a device.
    Irregular(PackagePath),
    TooMany,
    TooLarge,
    Unreadable {
        path: String,
        why: ErrorKind,
    },
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(
                f,
                "the path {path:?} is not allowed in a package: parts have letters, digits and `._+@-`, \
                 and a path at most 255 bytes"
            ),
            Self::Foreign(path) => write!(f, "`{path}` does not belong in a package"),
            Self::Twice(path) => {
                write!(f, "`{path}` is there twice: case does not count, nor file or directory")
            }
            Self::Irregular(path) => write!(f, "`{path}` is neither a file nor a directory"),
            Self::TooMany => f.write_str("a package has at most 10,000 files"),
            Self::TooLarge => f.write_str("a package has at most 64 MiB"),
            Self::Unreadable { path, why } => write!(f, "cannot read `{path}`: {}", Reason(*why)),
        }
    }
}

impl Error for PackageError {}
