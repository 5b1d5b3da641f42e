use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::TroubleKind;

use super::said::Said;

/// A path that cannot be checked, or a file that cannot be read.
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
    /// `~name`, for which a shell finds the home directory of someone.
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
                message!("`", path, "` is ", Words(found), ", not a file"),
                "name a file; to read the output of a program, use `@shell.output(…)`",
            ),
            Self::NoHome { path } => (
                Missing,
                message!("`", path, "` cannot be found, because there is no home directory"),
                "set `HOME`, or write the absolute path",
            ),
            Self::HomeOfAnother { path } => (
                Invalid,
                message!(
                    "`",
                    path,
                    "` cannot be found: `~` is only this user's own home directory"
                ),
                "write the absolute path; write a name that begins with `~` as `./~…`",
            ),
            // Not missing, which would be the program.
            Self::NoDirectory { path } => (
                Failed,
                message!("the working directory `", path.as_path(), "` does not exist"),
                "create it first, or fix the path",
            ),
        };
        (kind, message, help.into())
    }
}

fn stat(path: &Path, why: ErrorKind) -> (TroubleKind, Message, &'static str) {
    match why {
        ErrorKind::NotFound => (
            TroubleKind::Missing,
            message!("`", path, "` does not exist"),
            "it was removed while it was read; try again",
        ),
        ErrorKind::NotADirectory => (
            TroubleKind::Invalid,
            message!("`", path, "` cannot exist: a part of its path is a file"),
            "fix the path, or move the file away",
        ),
        ErrorKind::PermissionDenied => (
            TroubleKind::Denied,
            message!("cannot access `", path, "`: permission denied"),
            "give this user read permission, or run as another user",
        ),
        other => {
            (TroubleKind::Failed, message!("cannot access `", path, "`: ", other), "try `ls -ld`")
        }
    }
}

fn open(path: &str, why: ErrorKind) -> (TroubleKind, Message, &'static str) {
    match why {
        ErrorKind::NotFound | ErrorKind::NotADirectory => (
            TroubleKind::Missing,
            message!("the file `", path, "` does not exist"),
            "check the path: a relative path starts in the directory where the steps start",
        ),
        ErrorKind::PermissionDenied => (
            TroubleKind::Denied,
            message!("the file `", path, "` cannot be read: permission denied"),
            "give this user read permission, or run as another user",
        ),
        ErrorKind::InvalidInput => (
            TroubleKind::Invalid,
            "a path cannot contain a NUL character".into(),
            "remove the NUL character",
        ),
        other => (
            TroubleKind::Failed,
            message!("the file `", path, "` cannot be opened: ", other),
            "try to read it with `cat`",
        ),
    }
}
