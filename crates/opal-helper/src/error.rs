//! Why a helper cannot be used: all messages of this crate.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;

use opal_core::message::Reason;

use crate::BUILD;

/// A helper that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Where this program is, is not known.
    Unknown {
        name: &'static str,
        kind: ErrorKind,
    },
    /// There is no such file in the directory of this program.
    Missing {
        name: &'static str,
        folder: PathBuf,
    },
    /// The file or its directory is of another user.
    Foreign {
        name: &'static str,
        path: PathBuf,
    },
    /// Others can write the file or its directory.
    Writable {
        name: &'static str,
        path: PathBuf,
    },
    OtherBuild {
        name: &'static str,
        build: String,
    },
    /// The same, where it does not say which.
    NotThisBuild {
        name: &'static str,
        path: PathBuf,
    },
    NotStarted {
        name: &'static str,
        kind: ErrorKind,
    },
    /// It ended, or gave no answer that can be read.
    Silent {
        name: &'static str,
    },
}

impl Unusable {
    /// Whether somebody else could have put it there.
    #[must_use]
    pub const fn is_unsafe(&self) -> bool {
        matches!(self, Self::Foreign { .. } | Self::Writable { .. })
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Foreign { path, .. } => {
                format!("install opal again, or `chown root '{}'`", path.display())
            }
            Self::Writable { path, .. } => format!("`chmod go-w '{}'`", path.display()),
            Self::Silent { .. } => "try again; if it happens again, it is a bug of opal".to_owned(),
            Self::Unknown { name, .. }
            | Self::Missing { name, .. }
            | Self::OtherBuild { name, .. }
            | Self::NotThisBuild { name, .. }
            | Self::NotStarted { name, .. } => {
                // Some helpers are packages of their own; the others come with opal.
                let is_own = matches!(
                    *name,
                    "opal-target"
                        | "opal-plugin-host"
                        | "opal-terraform"
                        | crate::QUEUE
                        | crate::SERVE
                );
                let package = if is_own { *name } else { "opal-cli" };
                format!(
                    "install it with opal, in one directory: `cargo install --path crates/{package}`, \
                     or unpack the whole release"
                )
            }
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, kind } => {
                write!(
                    f,
                    "`{name}` cannot be found: the path of opal is unknown: {}",
                    Reason(*kind)
                )
            }
            Self::Missing { name, folder } => {
                write!(f, "the helper `{name}` is not in `{}`, where opal is", folder.display())
            }
            Self::Foreign { name, path } => {
                write!(f, "`{name}` is not started: `{}` belongs to another user", path.display())
            }
            Self::Writable { name, path } => {
                write!(f, "`{name}` is not started: other users can write to `{}`", path.display())
            }
            Self::OtherBuild { name, build } => {
                write!(f, "`{name}` is of another build: it is {build}, and opal is {BUILD}")
            }
            Self::NotThisBuild { name, path } => {
                write!(
                    f,
                    "`{name}` is of another build than opal, or not a helper: `{}`",
                    path.display()
                )
            }
            Self::NotStarted { name, kind } => {
                write!(f, "`{name}` cannot be started: {}", Reason(*kind))
            }
            Self::Silent { name } => write!(f, "`{name}` ended without an answer"),
        }
    }
}

impl std::error::Error for Unusable {}
