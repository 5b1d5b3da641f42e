//! Why this machine did not answer, or did not do what it was asked to. All messages of this crate
//! are here, each with its kind and its hint.
//!
//! | what failed | where |
//! |---|---|
//! | checking a path, or reading a file | [`PathError`] |
//! | a port, a page of the web | [`PortError`], [`NoPages`] |
//! | a command that only looks | [`CommandError`] |
//! | changing a file | [`ChangeError`] |
//! | comparing files | [`InventoryError`] |
//! | the journal of an order | [`JournalError`] |
//! | the rest: how a step is started | [`SessionError`] |

mod change;
mod command;
#[cfg(feature = "origin")]
mod inventory;
mod journal;
mod network;
mod path;
mod said;

use std::io::ErrorKind;

use opal_core::message;
use opal_core::message::{Message, Part, Words};
use opal_core::resolver::{Trouble, TroubleKind};

pub(crate) use change::{ChangeError, Obstacle, WayOut, refused};
pub(crate) use command::{CommandEnd, CommandError, CommandName};
#[cfg(feature = "origin")]
pub(crate) use inventory::InventoryError;
pub(crate) use journal::JournalError;
pub(crate) use network::NoPages;
#[cfg(feature = "origin")]
pub(crate) use network::PortError;
pub(crate) use path::PathError;
use said::Said;

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
    NotADirectory {
        path: String,
    },
    /// What a step reads or writes is a directory.
    IsADirectory {
        path: String,
        to: Use,
    },
    /// What a step reads or writes is something that could block for ever.
    NotAFile {
        path: String,
        to: Use,
        found: &'static str,
    },
    InvalidPath,
    NoProcessLimit,
    /// Limits without a shell to set them.
    NoLimits,
    /// The text of a script cannot be put into a file.
    NoTextFile(ErrorKind),
    /// A file or a directory that a step names cannot be used.
    Unusable {
        path: String,
        to: Use,
        why: ErrorKind,
    },
    /// The system has none of something left, or lost it.
    System {
        what: &'static str,
        why: ErrorKind,
    },
}

/// What a step does with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    CreateDirectory,
    Enter,
    Read,
    Write,
}

impl Use {
    /// Before the path and after it.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateDirectory => ("the directory `", "` cannot be created: "),
            Self::Enter => ("the directory `", "` cannot be entered: "),
            Self::Read => ("the file `", "` cannot be read: "),
            Self::Write => ("the file `", "` cannot be written: "),
        }
    }

    /// What to do where it is not a file.
    const fn by_the_shell(self) -> &'static str {
        match self {
            Self::Write => "name a file, or let the shell open it: `COMMAND > PATH`",
            _ => "name a file, or let the shell open it: `COMMAND < PATH`",
        }
    }

    fn said(self, path: &str, why: impl Part) -> Message {
        let (before, after) = self.words();
        message!(Words(before), path, Words(after), why)
    }
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
            Self::NotADirectory { path } => {
                let why = Words("it is not a directory");
                (Invalid, Use::Enter.said(path, why), "name a directory")
            }
            Self::IsADirectory { path, to } => {
                (Invalid, to.said(path, Words("it is a directory")), "name a file in it")
            }
            Self::NotAFile { path, to, found } => {
                (Invalid, to.said(path, message!("it is ", Words(found))), to.by_the_shell())
            }
            Self::NoTextFile(why) => {
                let message = message!("the text of the script cannot be written: ", *why);
                (Failed, message, "make room in the directory of `TMPDIR`, or name another one")
            }
            Self::InvalidPath => (
                Invalid,
                "a path cannot be empty or contain a NUL character".into(),
                "name a file or a directory",
            ),
            Self::NoProcessLimit => (
                Failed,
                "`@limits(processes=…)` cannot be enforced: root has no process limit, and no \
                 cgroup can be created"
                    .into(),
                "run as another user, or omit `processes`",
            ),
            Self::NoLimits => (
                Missing,
                "`@limits` cannot be enforced: neither `bash` nor `sh` is in `PATH`".into(),
                "install one of them, or fix `PATH`",
            ),
            Self::Unusable { path, to, why } => {
                let (kind, help) = unusable(*why);
                (kind, to.said(path, why), help)
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
            (TroubleKind::Missing, "create the directory first, for example with `mkdir -p`")
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

into_trouble!(SessionError, PathError, NoPages, CommandError, ChangeError, JournalError);
#[cfg(feature = "origin")]
into_trouble!(PortError);
