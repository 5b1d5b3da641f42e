//! Keys: of this machine, of one contract, of people who sign.
//!
//! | what | where |
//! |---|---|
//! | the key that makes a machine a runner, and what is derived from it | [`Runner`] |
//! | a key that replaces it for one run | [`IdentitySource`] |
//! | the secret of one contract, and how it travels sealed | [`ContractSecret`], [`Envelope`] |
//! | who may open an envelope | [`Recipient`] |
//! | signatures | [`SigningKey`], [`PublicKey`] |
//! | named keys under the runtime root | [`Credentials`] |
//! | how one key becomes another | [`derive`] |
//!
//! Deliberately not here: which contracts are accepted, which is `policy`, and the environment:
//! whoever calls has read it. Nothing of a key is in any message or any `Debug`.

mod contract;
mod credentials;
mod derive;
mod envelope;
mod identity;
mod runner;
mod seal;
mod signing;

use std::fmt;

pub use contract::ContractSecret;
pub use credentials::{Credentials, KeyEntry, KeyKind, KeyName, Listed};
pub use derive::derive;
pub use envelope::{Envelope, MAX_ENVELOPE_BYTES, OpenError, SealError};
pub use identity::IdentitySource;
pub use runner::Runner;
pub use seal::{Recipient, recipients};
pub(crate) use signing::private_pem;
pub use signing::{PublicKey, SigningKey, verify};

use crate::root::{RootError, Why};

/// Bytes of a file that holds a key.
const MAX_KEY_BYTES: u64 = 16 * 1024;

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
    /// What was given is no name of a key.
    Name,
    /// It is no key, or one of another kind.
    Invalid,
    /// A program that should print it did not.
    Failed,
    /// It cannot be read or written.
    Unreachable,
}

impl KeyError {
    fn new(kind: KeyErrorKind, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { kind, message: message.into(), help: help.into() }
    }

    fn invalid(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(KeyErrorKind::Invalid, message, help)
    }
}

impl From<RootError> for KeyError {
    fn from(error: RootError) -> Self {
        let kind = match error.why {
            _ if error.is_unsafe() => KeyErrorKind::Exposed,
            Why::Missing => KeyErrorKind::Missing,
            Why::Exists => KeyErrorKind::Exists,
            Why::TooLarge(_) => KeyErrorKind::Invalid,
            _ => KeyErrorKind::Unreachable,
        };
        Self::new(kind, error.to_string(), error.help())
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for KeyError {}

/// Fresh bytes of the operating system.
fn fresh() -> zeroize::Zeroizing<[u8; 32]> {
    let mut bytes = zeroize::Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes).expect("the operating system has randomness");
    bytes
}

/// Bytes for a name that no other run has.
#[must_use]
pub fn name() -> [u8; 4] {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}
