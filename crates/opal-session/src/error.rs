//! Why this machine did not answer, or did not do what it was asked to. All messages of this crate
//! are here, each with its kind and its hint.
//!
//! | what failed | where |
//! |---|---|
//! | checking a path, or reading a file | [`PathError`] |
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
                "install one of them, or fix `PATH`",
            ),
            Self::NoInterpreter => (
                Missing,
                "the interpreter is not installed, or not in `PATH`".into(),
                "install it, or add its directory to `PATH`",
            ),
            Self::ArgumentsTooLong => (
                TooLarge,
                "an argument of the command is too long: the system accepts at most 128 KiB".into(),
                "pass the value on standard input, or with a heredoc: `COMMAND <<EOF`",
            ),
            // Not missing, which would be the program. Where it was may be a secret.
            Self::WorkingDirectoryGone => (
                Failed,
                "the working directory does not exist any more".into(),
                "check which step removes it, or create it with `@workdir(…, create=true)`",
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
                "a path cannot be empty or contain a NUL character".into(),
                "name a file or a directory",
            ),
            Self::NoHome => (
                Missing,
                "the path begins with `~`, but there is no home directory".into(),
                "set `HOME`, or write the absolute path",
            ),
            Self::NoProcessLimit => (
                Failed,
                "`@limits(processes=…)` cannot be enforced: root has no process limit, and no \
                 cgroup can be created"
                    .into(),
                "run as another user, or omit `processes`",
            ),
            Self::Unusable { what, why } => {
                let (kind, help) = unusable(*why);
                (kind, message!("the ", Words(what), ": ", why), help)
            }
            Self::System { what, why } => (
                Failed,
                message!(Words(what), ": ", why),
                "check the limits on processes, memory and descriptors with `ulimit -a`",
            ),
        };
        (kind, message, help.into())
    }
}

fn unusable(why: ErrorKind) -> (TroubleKind, &'static str) {
    match why {
        ErrorKind::NotFound => {
            (TroubleKind::Missing, "create it first, for example with `mkdir -p`")
        }
        ErrorKind::NotADirectory => (TroubleKind::Missing, "a part of the path is a file"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            (TroubleKind::Denied, "check its permissions with `ls -ld`")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (TroubleKind::TooLarge, "free some space, and run again")
        }
        _ => (TroubleKind::Failed, "check the disk"),
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
