use std::io::ErrorKind;
use std::time::Duration;

use opal_core::message;
use opal_core::message::Message;
use opal_core::resolver::{MAX_VALUE_BYTES, TroubleKind};

use super::said::Said;

/// What messages call a command that only looks.
#[derive(Clone, Debug)]
pub(crate) enum CommandName {
    /// Text for a shell, or for another interpreter.
    Script,
    Program(String),
    /// The shell, where it only reads a text.
    Parser,
}

/// A command that gave no answer.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) name: CommandName,
    pub(crate) why: CommandEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandEnd {
    NoName,
    NotInstalled,
    NotStarted(ErrorKind),
    /// It ended with this.
    Code(i32),
    Signal(Option<i32>),
    TimedOut(Duration),
    /// It has ended, but something it started keeps its output open.
    LeftOpen(Duration),
    /// Who asked has no more time.
    OutOfTime,
    Stopped,
    /// Its output cannot be read.
    Lost,
    NotText,
    TooLarge,
}

impl CommandName {
    fn said(&self) -> Message {
        match self {
            Self::Script => "the command".into(),
            Self::Program(name) => message!("`", name, "`"),
            Self::Parser => "the shell's parser".into(),
        }
    }
}

impl CommandError {
    pub(super) fn said(&self) -> Said {
        let (kind, message, help) = self.why.said(&self.name.said());
        (kind, message, help.into())
    }
}

impl CommandEnd {
    fn said(self, name: &Message) -> (TroubleKind, Message, &'static str) {
        use TroubleKind::{Failed, Invalid, Missing, NotText, TimedOut, TooLarge};
        match self {
            Self::NoName => {
                (Invalid, "missing program name".into(), "give the name of the program first")
            }
            Self::NotInstalled => (
                Missing,
                message!("the program ", name, " is not installed, or not in `PATH`"),
                "install it, or add its directory to `PATH`",
            ),
            Self::NotStarted(why) => {
                let (kind, help) = not_started(why);
                (kind, message!(name, " cannot be started: ", why), help)
            }
            Self::Code(_) | Self::Signal(_) => self.ended(name),
            Self::TimedOut(limit) => (
                TimedOut,
                message!(name, " timed out after ", limit),
                "run it in a terminal to see what it waits for; its standard input is empty",
            ),
            Self::LeftOpen(limit) => (
                TimedOut,
                message!(name, " ended, but something it started kept its output open for ", limit),
                "redirect the output of background processes: `… >/dev/null 2>&1 &`",
            ),
            Self::OutOfTime => (
                TimedOut,
                message!(name, " was stopped: it timed out"),
                "run it in a terminal to see what it waits for, or give it more time",
            ),
            Self::Stopped => (
                Failed,
                message!(name, " was stopped: opal was asked to stop"),
                "it changed nothing; start again at any time",
            ),
            Self::Lost => (
                Failed,
                message!("the output of ", name, " could not be read"),
                "try again; if it happens again, run it in a terminal",
            ),
            Self::NotText => (
                NotText,
                message!("the output of ", name, " is not UTF-8 text"),
                "encode it, for example with `| base64`",
            ),
            Self::TooLarge => (
                TooLarge,
                message!("the output of ", name, " is larger than ", MAX_VALUE_BYTES >> 20, " MiB"),
                "let it print only what is needed, or write to a file in a step",
            ),
        }
    }

    fn ended(self, name: &Message) -> (TroubleKind, Message, &'static str) {
        use TroubleKind::{Denied, Failed, Missing};
        const BY_HAND: &str = "run it in a terminal to see its messages; they are not shown here, \
                               because they may contain secrets";
        match self {
            Self::Code(127) => (
                Missing,
                message!("command not found by ", name, " (exit code 127)"),
                "install the missing command, or add its directory to `PATH`",
            ),
            Self::Code(126) => (
                Denied,
                message!(name, " is not executable, or ran something that is not (exit code 126)"),
                "make it executable with `chmod +x`, or name its interpreter",
            ),
            Self::Code(code) => (Failed, message!(name, " failed with exit code ", code), BY_HAND),
            Self::Signal(Some(number)) => {
                (Failed, message!(name, " was killed by signal ", number), BY_HAND)
            }
            _ => (Failed, message!(name, " was killed by a signal"), BY_HAND),
        }
    }
}

fn not_started(why: ErrorKind) -> (TroubleKind, &'static str) {
    match why {
        ErrorKind::NotFound | ErrorKind::NotADirectory => (
            TroubleKind::Missing,
            "check that the directory where the steps start, and the interpreter, still exist",
        ),
        ErrorKind::PermissionDenied => (TroubleKind::Denied, "make it executable with `chmod +x`"),
        ErrorKind::ArgumentListTooLong => {
            (TroubleKind::TooLarge, "pass long text on standard input or in a file")
        }
        _ => (TroubleKind::Failed, "run it in a terminal to see why"),
    }
}
