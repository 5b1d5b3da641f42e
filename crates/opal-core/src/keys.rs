//! Where the planner gets the keys of placeholders and the bytes of random values.
//!
//! The planner asks; who has the keys answers. Deliberately not here: any key.

use std::fmt;

use crate::decorator::Descriptor;
use crate::hash::Digest;
use crate::placeholder::PlaceholderKey;
use crate::resolver::{Inputs, Stream};

/// Where random values and placeholders get their keys. Asked only when there is a need.
pub trait Keys {
    fn placeholder_key(&mut self) -> Result<PlaceholderKey, KeyError>;

    /// The random bytes for a value.
    fn draw(&mut self, draw: &Draw<'_>) -> Result<Box<dyn Stream>, KeyError>;
}

/// What random bytes are asked for.
#[derive(Debug)]
pub struct Draw<'d> {
    pub decorator: &'static Descriptor,
    pub inputs: &'d Inputs,
    pub plan_hash: &'d Digest,
    /// The first step that uses the value.
    pub path: &'d str,
    /// Among the values of this decorator in that step.
    pub counter: u32,
}

/// Why a key cannot be had. The words never hold any of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    pub kind: KeyErrorKind,
    /// Lower case, without a full stop, with the thing in backticks.
    pub message: String,
    pub help: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyErrorKind {
    Missing,
    /// It is there already.
    Exists,
    /// Others could have read or changed it.
    Exposed,
    /// What was given is not a name of a key.
    Name,
    /// It is not a key, or one of another kind.
    Invalid,
    /// A program that should print it did not.
    Failed,
    /// It cannot be read or written.
    Unreachable,
}

impl KeyError {
    #[must_use]
    pub fn new(kind: KeyErrorKind, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { kind, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for KeyError {}
