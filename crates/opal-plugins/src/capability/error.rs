//! Why a text is not a capability, in words.

use std::fmt;

use super::MAX_BYTES;

/// Why a text is not a capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapabilityError {
    TooLong,
    Unknown,
    /// It needs something after the colon.
    Missing(&'static str),
    /// It takes nothing.
    Excess,
    Host(String),
    Port(String),
    Program(String),
    Argument(String),
    Variable(String),
    Path(String),
    /// Another spelling is the only one.
    Spelling(String),
}

impl fmt::Display for CapabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a capability has at most {MAX_BYTES} bytes"),
            Self::Unknown => f.write_str("unknown capability"),
            Self::Missing(what) => write!(f, "it needs {what} after the colon"),
            Self::Excess => f.write_str("it takes nothing after its name"),
            Self::Host(host) => write!(f, "invalid host {host:?}"),
            Self::Port(port) => write!(f, "invalid port {port:?}"),
            Self::Program(program) => {
                write!(f, "invalid program {program:?}: expects a name without `/`")
            }
            Self::Argument(word) => {
                write!(f, "invalid argument {word:?}: expects visible characters without blanks")
            }
            Self::Variable(name) => write!(f, "invalid name of a variable {name:?}"),
            Self::Path(path) => write!(f, "invalid path {path:?}"),
            Self::Spelling(only) => write!(f, "write `{only}`"),
        }
    }
}

impl std::error::Error for CapabilityError {}
