//! Why a key that somebody named cannot be used. What was given is not repeated where it may be a
//! key.

use std::io;
use std::path::Path;
use std::time::Duration;

use opal_core::keys::{KeyError, KeyErrorKind};

#[derive(Debug)]
pub(super) enum KeyFault<'a> {
    /// `--identity` with the key itself.
    IdentityIsAKey,
    /// `cmd:` without a program.
    NoProgram,
    Program {
        name: &'a str,
        why: ProgramFault,
    },
    /// Where the text comes from that is not a runner key.
    NotARunnerKey(Origin<'a>),
    AlreadyExists(&'a Path),
    FolderUnreadable {
        path: &'a Path,
        why: io::Error,
    },
    CannotSign(&'a str),
    /// A key that `ssh-keygen` made, to sign contracts with.
    ApprovesOnly(&'a str),
    /// Keys that approve are made by `ssh-keygen`.
    NotMadeHere,
    CannotOpen(&'a Path),
    Unknown {
        name: &'a str,
        path: &'a Path,
    },
    Unsupported(&'a Path),
    InvalidName(&'a str),
    InvalidPublicKey,
    RecipientIsPrivate,
    InvalidRecipient(&'a str),
    NotRecipients(&'a str),
}

/// A program that should have printed a key.
#[derive(Debug)]
pub(super) enum ProgramFault {
    NotStarted(io::Error),
    TooMuchOutput,
    TimedOut(Duration),
    ExitCode(i32),
    Killed,
}

#[derive(Debug)]
pub(super) enum Origin<'a> {
    File(&'a Path),
    Program(&'a str),
    Variable,
}

impl KeyFault<'_> {
    const fn kind(&self) -> KeyErrorKind {
        match self {
            Self::Program { .. } => KeyErrorKind::Failed,
            Self::AlreadyExists(_) => KeyErrorKind::Exists,
            Self::FolderUnreadable { .. } => KeyErrorKind::Unreachable,
            Self::Unknown { .. } => KeyErrorKind::Missing,
            Self::InvalidName(_) => KeyErrorKind::Name,
            _ => KeyErrorKind::Invalid,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::IdentityIsAKey => {
                "`--identity` expects a file or `cmd:PROGRAM`, got a key".into()
            }
            Self::NoProgram => "`cmd:` without a program".into(),
            Self::Program { name, why } => match why {
                ProgramFault::NotStarted(error) => format!("`{name}` cannot be started: {error}"),
                ProgramFault::TooMuchOutput => format!("`{name}` printed more than a key"),
                ProgramFault::TimedOut(limit) => {
                    format!("`{name}` timed out after {}s", limit.as_secs())
                }
                ProgramFault::ExitCode(code) => format!("`{name}` failed with exit code {code}"),
                ProgramFault::Killed => format!("`{name}` was killed by a signal"),
            },
            Self::NotARunnerKey(origin) => match origin {
                Origin::File(path) => format!("`{}` is not a runner key", path.display()),
                Origin::Program(name) => format!("the output of `{name}` is not a runner key"),
                Origin::Variable => "`OPAL_IDENTITY` is not a runner key".into(),
            },
            Self::AlreadyExists(path) => {
                format!("`{}` already exists and is never overwritten", path.display())
            }
            Self::FolderUnreadable { path, why } => {
                format!("`{}` cannot be read: {why}", path.display())
            }
            Self::CannotSign(key) => format!("`{key}` is a sealing key and cannot sign"),
            Self::ApprovesOnly(key) => {
                format!("`{key}` is a key that approves, and cannot sign contracts")
            }
            Self::NotMadeHere => "keys that approve are made by `ssh-keygen`".to_owned(),
            Self::CannotOpen(path) => {
                format!("`{}` is a signing key and cannot open contracts", path.display())
            }
            Self::Unknown { name, path } => format!("unknown key `{name}` ({})", path.display()),
            Self::Unsupported(path) => {
                format!("`{}` does not contain a supported key", path.display())
            }
            Self::InvalidName(text) => format!("invalid key name `{}`", text.escape_debug()),
            Self::InvalidPublicKey => {
                "invalid public key: expected `ed25519:` and 32 bytes in base64".into()
            }
            Self::RecipientIsPrivate => {
                "a recipient must be a public key, got a private key".into()
            }
            Self::InvalidRecipient(text) => format!("invalid recipient `{text}`"),
            Self::NotRecipients(path) => format!("`{path}` is not a file of recipients"),
        }
    }

    const fn help(&self) -> &'static str {
        match self {
            Self::IdentityIsAKey => {
                "other users can see arguments: make a new key, and put it in a file of mode 0600 \
                 or in the variable `OPAL_IDENTITY`"
            }
            Self::NoProgram => "write `cmd:PROGRAM ARGUMENTS`, such as `cmd:pass show ci/opal`",
            Self::Program { .. } => "run it in a terminal: it must print a runner key",
            Self::NotARunnerKey(_) => {
                "expected an age identity: one line that begins with `AGE-SECRET-KEY-1`"
            }
            Self::AlreadyExists(_) => "choose another name, or move the old one away first",
            Self::FolderUnreadable { .. } => "check its permissions",
            Self::NotMadeHere => "use `opal keys generate NAME --approve`",
            Self::CannotSign(_) | Self::ApprovesOnly(_) => {
                "make a signing key with `opal keys generate NAME --sign`"
            }
            Self::CannotOpen(_) => {
                "move it away, and make a runner key with `opal keys generate --seal`"
            }
            Self::Unknown { .. } => {
                "list the keys with `opal keys list`, or make one with `opal keys generate`"
            }
            Self::Unsupported(_) => {
                "expected an Ed25519 key as PKCS#8 in PEM form, or an age identity"
            }
            Self::InvalidName(_) => {
                "use letters, digits, `-`, `_` and `.`, at most 64, beginning with a letter"
            }
            Self::InvalidPublicKey => "`opal keys show NAME` prints the public key",
            Self::RecipientIsPrivate => {
                "`opal keys show` prints the public key; it begins with `age1`"
            }
            Self::InvalidRecipient(_) => {
                "a recipient begins with `age1`; `opal keys show runner` prints one"
            }
            Self::NotRecipients(_) => {
                "write one recipient on each line, each beginning with `age1`; comments begin \
                 with `#`"
            }
        }
    }
}

impl From<KeyFault<'_>> for KeyError {
    fn from(fault: KeyFault<'_>) -> Self {
        Self::new(fault.kind(), fault.message(), fault.help())
    }
}
