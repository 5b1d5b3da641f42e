//! Why this machine did not answer, or did not do what it was asked to. All messages of this crate
//! are here, each with its kind and its hint.
//!
//! | what failed | where |
//! |---|---|
//! | looking at a path, or reading a file | [`PathError`] |
//! | a page of the web, a port | [`PageError`], [`PortError`] |
//! | a command that only looks | [`CommandError`] |
//! | changing a file | [`ChangeError`] |
//! | the rest: how a step is started | [`SessionError`] |

mod change;
mod command;
mod network;
mod path;

use std::io::ErrorKind;

use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::{Trouble, TroubleKind};

pub(crate) use change::{ChangeError, Obstacle, WayOut, refused};
pub(crate) use command::{CommandEnd, CommandError, CommandName};
pub(crate) use network::{PageError, PortError, Server, ServerError};
pub(crate) use path::PathError;

/// What can be said about an error.
type Said = (TroubleKind, Message, Message);

#[derive(Debug)]
pub(crate) enum SessionError {
    /// A variable of the environment is not text.
    VariableNotText {
        name: String,
    },
    NoShell,
    NoInterpreter,
    ArgumentsTooLong,
    WorkingDirectoryGone,
    /// What a step enters with `@workdir` is something else.
    NotADirectory,
    /// What a step reads or writes is a directory.
    IsADirectory {
        done: &'static str,
    },
    InvalidPath,
    NoHome,
    NoProcessLimit,
    /// A file or a directory that a step names cannot be used.
    Unusable {
        what: &'static str,
        why: ErrorKind,
    },
    /// The system has none of something left, or lost it.
    System {
        what: &'static str,
        why: ErrorKind,
    },
}

impl SessionError {
    fn said(&self) -> Said {
        use TroubleKind::{Failed, Invalid, Missing, NotText, TooLarge};
        let (kind, message, help): (_, Message, &str) = match self {
            Self::VariableNotText { name } => {
                let message = message!("the environment variable `", name, "` is not UTF-8 text");
                let help =
                    message!("see its bytes with `printenv ", name, " | od -c`, and set it again");
                return (NotText, message, help);
            }
            Self::NoShell => (
                Missing,
                "there is no shell to run the command: neither `bash` nor `sh` is in `PATH`".into(),
                "install one of them, or correct `PATH`",
            ),
            Self::NoInterpreter => (
                Missing,
                "the interpreter is not installed, or not in `PATH`".into(),
                "install it, or add its directory to `PATH`",
            ),
            Self::ArgumentsTooLong => (
                TooLarge,
                "the arguments of the command are too long: the system takes 128 KiB in one \
                 argument"
                    .into(),
                "pass the value on standard input, or with a heredoc: `COMMAND <<EOF`",
            ),
            // Not missing, which would be the program. Where it was may be a secret.
            Self::WorkingDirectoryGone => (
                Failed,
                "the working directory does not exist any more".into(),
                "see which step removes it, or make it with `@workdir(…, create=true)`",
            ),
            Self::NotADirectory => {
                (Invalid, "what is to be entered is not a directory".into(), "name a directory")
            }
            Self::IsADirectory { done } => (
                Invalid,
                message!("what is to be ", Words(done), " is a directory"),
                "name a file in it",
            ),
            Self::InvalidPath => (
                Invalid,
                "a path cannot be empty or hold a NUL character".into(),
                "name a file or a directory",
            ),
            Self::NoHome => (
                Missing,
                "the path begins with `~`, and there is no home directory".into(),
                "set `HOME`, or name the whole path",
            ),
            Self::NoProcessLimit => (
                Failed,
                "`@limits(processes=…)` cannot be kept here: root has no limit on processes, and \
                 there is no control group that can be made"
                    .into(),
                "run as another user, or leave `processes` out",
            ),
            Self::Unusable { what, why } => {
                let (kind, help) = unusable(*why);
                (kind, message!("the ", Words(what), ": ", why), help)
            }
            Self::System { what, why } => (
                Failed,
                message!(Words(what), ": ", why),
                "see whether the system has processes, memory and descriptors to spare \
                 (`ulimit -a`)",
            ),
        };
        (kind, message, help.into())
    }
}

fn unusable(why: ErrorKind) -> (TroubleKind, &'static str) {
    match why {
        ErrorKind::NotFound => (TroubleKind::Missing, "make it first, for example with `mkdir -p`"),
        ErrorKind::NotADirectory => (TroubleKind::Missing, "a part of the path is a file"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            (TroubleKind::Denied, "see who may write there with `ls -ld`")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (TroubleKind::TooLarge, "free some space, and run again")
        }
        _ => (TroubleKind::Failed, "see whether the disk is in order"),
    }
}

macro_rules! into_trouble {
    ($($error:ty),+) => {
        $(impl From<$error> for Trouble {
            fn from(error: $error) -> Self {
                let (kind, message, help) = error.said();
                Self::new(kind, message, help)
            }
        })+
    };
}

into_trouble!(SessionError, PathError, PageError, PortError, CommandError, ChangeError);
