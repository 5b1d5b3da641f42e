use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::TroubleKind;

use super::Said;

/// A path that cannot be looked at, or a file that cannot be read.
#[derive(Debug)]
pub(crate) enum PathError {
    /// Nothing can be said about what is there.
    Stat {
        path: PathBuf,
        why: ErrorKind,
    },
    Open {
        path: String,
        why: ErrorKind,
    },
    /// What is there is something else, such as a directory.
    Irregular {
        path: String,
        found: &'static str,
    },
    NoHome {
        path: String,
    },
    /// `~name`, for which a shell finds the home directory of somebody.
    HomeOfAnother {
        path: String,
    },
    /// For a command to run in.
    NoDirectory {
        path: PathBuf,
    },
}

impl PathError {
    pub(super) fn said(&self) -> Said {
        use TroubleKind::{Failed, Invalid, Missing};
        let (kind, message, help) = match self {
            Self::Stat { path, why } => stat(path, *why),
            Self::Open { path, why } => open(path, *why),
            Self::Irregular { path, found } => (
                Invalid,
                message!("`", path, "` is ", Words(found), " and not a file"),
                "name a file; what a program gives is read with `@shell.output(…)`",
            ),
            Self::NoHome { path } => (
                Missing,
                message!("`", path, "` cannot be found, since there is no home directory"),
                "set `HOME`, or write the whole path",
            ),
            Self::HomeOfAnother { path } => (
                Invalid,
                message!(
                    "`",
                    path,
                    "` cannot be found: `~` is only this user's own home directory"
                ),
                "write the whole path; a name that begins with `~` is written `./~…`",
            ),
            // Not missing, which would be the program.
            Self::NoDirectory { path } => (
                Failed,
                message!("there is no directory `", path.as_path(), "` to run a command in"),
                "make it first, or correct the path",
            ),
        };
        (kind, message, help.into())
    }
}

fn stat(path: &Path, why: ErrorKind) -> (TroubleKind, Message, &'static str) {
    match why {
        ErrorKind::NotFound => (
            TroubleKind::Missing,
            message!("`", path, "` is not there"),
            "it was removed while it was read; try again",
        ),
        ErrorKind::NotADirectory => (
            TroubleKind::Invalid,
            message!("`", path, "` cannot be there: a part of its path is a file"),
            "correct the path, or make room for the directory",
        ),
        ErrorKind::PermissionDenied => (
            TroubleKind::Denied,
            message!("`", path, "` may not be looked at: permission denied"),
            "let this user read it, or run as one who may",
        ),
        other => (
            TroubleKind::Failed,
            message!("`", path, "` cannot be looked at: ", other),
            "try it by hand, with `ls -ld`",
        ),
    }
}

fn open(path: &str, why: ErrorKind) -> (TroubleKind, Message, &'static str) {
    match why {
        ErrorKind::NotFound | ErrorKind::NotADirectory => (
            TroubleKind::Missing,
            message!("there is no file `", path, "`"),
            "check the path: a relative one begins in the directory where the steps start",
        ),
        ErrorKind::PermissionDenied => (
            TroubleKind::Denied,
            message!("the file `", path, "` may not be read"),
            "let this user read it, or run as one who may",
        ),
        ErrorKind::InvalidInput => {
            (TroubleKind::Invalid, "a path cannot hold a NUL character".into(), "leave the NUL out")
        }
        other => (
            TroubleKind::Failed,
            message!("the file `", path, "` cannot be opened: ", other),
            "try it by hand, with `cat`",
        ),
    }
}
