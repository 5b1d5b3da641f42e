//! Failures: wording, hints and exit codes, decided in one place.

pub(crate) mod contract;
pub(crate) mod module;
pub(crate) mod record;

use std::io;
use std::path::Path;

use opal_core::Code;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_files::SystemError;
use opal_trust::keys::{KeyError, KeyErrorKind};
use opal_vault::record::Reason;

use crate::mistake::Mistake;

/// Exit codes, as `docs/language/10-errors.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// Something would change or is not as described: `fmt --check`, `verify`.
    Differs,
    Usage,
    /// `opal verify` could not look.
    Unverified,
    /// Source or plan error.
    Source,
    /// A value of the plan cannot be had.
    NoValue,
    NoFile,
    /// Asked for something that this version does not have.
    Unavailable,
    /// A bug.
    Bug,
    /// An output, a file or a record could not be written.
    Write,
    /// A contract does not hold.
    Refused,
    /// A signature, a key or a policy stands in the way.
    NotTrusted,
    /// A file of settings, or a key, is not what it should be.
    Configuration,
    /// What a step ended with, 124 where its time was over, or 128 and the number of a signal.
    Step(u8),
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Differs => 1,
            Self::Usage => 2,
            Self::Unverified => 3,
            Self::Source | Self::NoValue => 65,
            Self::NoFile => 66,
            Self::Unavailable => 69,
            Self::Bug => 70,
            Self::Write => 74,
            Self::Refused => 76,
            Self::NotTrusted => 77,
            Self::Configuration => 78,
            Self::Step(code) => code,
        }
    }
}

/// Why a command goes no further.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// People know why: it was shown, or a key or a signal ended it. With this exit code.
    Ended(Exit),
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Stopped {
    /// What the command ends with.
    pub(crate) fn outcome(self) -> Result<Exit, Failure> {
        match self {
            Self::Ended(exit) => Ok(exit),
            Self::Failed(failure) => Err(failure),
        }
    }
}

/// What went wrong outside of any source text.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Of the page that says more.
    pub(crate) code: Option<Code>,
    /// Lower case, without a full stop.
    pub(crate) message: String,
    /// What to type next, one suggestion a line.
    pub(crate) help: Vec<String>,
    /// JSON was asked for where only the command that failed could know it.
    pub(crate) is_json: bool,
    /// Why a contract is refused, where that is what failed.
    pub(crate) refusal: Option<Reason>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            exit,
            code: None,
            message: message.into(),
            help: vec![help.into()],
            is_json: false,
            refusal: None,
        }
    }

    /// Settings that cannot be used.
    pub(crate) fn of_settings(trouble: &Trouble) -> Self {
        let exit = match trouble.kind {
            TroubleKind::Denied => Exit::NotTrusted,
            _ => Exit::Configuration,
        };
        let help = trouble.help.iter().map(ToString::to_string).collect();
        Self { help, ..Self::new(exit, trouble.message.to_string(), "") }
    }

    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message, help)
    }

    pub(crate) fn mistake(Mistake { message, help }: Mistake) -> Self {
        Self { help, ..Self::usage(message, "") }
    }

    /// With the page that says more.
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code: Some(code), ..self }
    }

    /// A contract is refused for this reason.
    pub(crate) fn refusing(self, reason: Reason) -> Self {
        Self { refusal: Some(reason), ..self }
    }

    /// To be told as JSON too, where that was asked for.
    pub(crate) fn in_json(self, asked: bool) -> Self {
        Self { is_json: self.is_json || asked, ..self }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        let shown = path.display();
        let (message, help) = match error.kind() {
            io::ErrorKind::NotFound => {
                (format!("the file `{shown}` does not exist"), "check the path".to_owned())
            }
            io::ErrorKind::PermissionDenied => (
                format!("`{shown}` cannot be read: permission denied"),
                format!("check it with `ls -l {shown}`"),
            ),
            io::ErrorKind::IsADirectory => (
                format!("`{shown}` is a directory"),
                format!("name its files, as in `{}`", path.join("*.opl").display()),
            ),
            _ => {
                let why = SystemError(error);
                (format!("`{shown}` cannot be read: {why}"), "check the path".to_owned())
            }
        };
        Self::new(Exit::NoFile, message, help)
    }

    pub(crate) fn key(error: KeyError) -> Self {
        let exit = match error.kind {
            KeyErrorKind::Name => Exit::Usage,
            KeyErrorKind::Missing => Exit::NoFile,
            KeyErrorKind::Exists | KeyErrorKind::Unreachable => Exit::Write,
            KeyErrorKind::Exposed => Exit::NotTrusted,
            KeyErrorKind::Invalid | KeyErrorKind::Failed => Exit::Configuration,
        };
        Self::new(exit, error.message, error.help)
    }

    /// What a plan or a selection as a whole does not allow. It holds no value.
    pub(crate) fn unready(Trouble { message, help, .. }: Trouble) -> Self {
        let help = help.into_iter().map(Into::into).collect();
        Self { help, ..Self::usage(message, "") }
    }

    /// A target that does not answer, or whose key `ssh` refuses.
    pub(crate) fn target(trouble: Trouble) -> Self {
        let exit = match trouble.kind {
            TroubleKind::Denied => Exit::NotTrusted,
            TroubleKind::Mutated => Exit::Refused,
            _ => Exit::Unavailable,
        };
        Self { exit, ..Self::unready(trouble) }
    }

    pub(crate) fn unwritable(what: &str, error: &io::Error) -> Self {
        let help = match error.kind() {
            io::ErrorKind::StorageFull => "free some space and try again",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "check its permissions"
            }
            _ => "check the destination, and try again",
        };
        Self::new(Exit::Write, format!("{what} cannot be written: {}", SystemError(error)), help)
    }

    /// For a file that is written beside its place first: until that is done, nothing changes.
    pub(crate) fn unreplaced(path: &Path, error: &io::Error) -> Self {
        let failure = Self::unwritable(&format!("`{}`", path.display()), error);
        match path.exists() {
            true => failure.help("the existing file is unchanged"),
            false => failure,
        }
    }
}
