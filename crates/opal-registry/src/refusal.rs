//! Why a package cannot be had: what to tell a person, and the exit code.

use std::error::Error;
use std::fmt;
use std::io;

use opal_core::resolver::Trouble;
use opal_files::SystemError;

use crate::archive::ArchiveError;
use crate::format::FormatError;

/// Why a package cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// 65, 69, 77 or 78.
    pub exit: u8,
    pub message: String,
    pub help: String,
}

impl Refusal {
    /// Files of the project, or packages, contradict each other.
    pub(crate) fn conflict(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { exit: 78, message: message.into(), help: help.into() }
    }

    /// A checksum, a signature, a publisher or a policy.
    pub(crate) fn untrusted(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { exit: 77, message: message.into(), help: help.into() }
    }

    /// It cannot be reached, or is not there.
    pub(crate) fn unavailable(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { exit: 69, message: message.into(), help: help.into() }
    }

    /// It is not a package.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            exit: 65,
            message: message.into(),
            help: "report it to the publisher of the package".to_owned(),
        }
    }

    pub(crate) fn document(address: &str, error: &FormatError) -> Self {
        let message = format!("the registry {address} has an {error}");
        Self { exit: 65, message, help: "report it to the owner of the registry".to_owned() }
    }

    pub(crate) fn archive(package: &str, error: &ArchiveError) -> Self {
        Self::invalid(format!("{package} is not a package: {error}"))
    }

    pub(crate) fn unreached(trouble: &Trouble) -> Self {
        let help: Vec<String> = trouble.help.iter().map(ToString::to_string).collect();
        Self::unavailable(trouble.message.to_string(), help.join("; "))
    }

    pub(crate) fn unwritten(what: &str, error: &io::Error) -> Self {
        let message = format!("cannot write {what}: {}", SystemError(error));
        Self { exit: 74, message, help: "check the directory and the space on the disk".to_owned() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Refusal {}
