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
//! | why a key cannot be used, in words | `error` |
//!
//! Deliberately not here: which contracts are accepted, which is `policy`, and the environment:
//! whoever calls has read it. Nothing of a key is in any message or any `Debug`.

mod contract;
mod credentials;
mod derive;
mod envelope;
mod error;
#[cfg(debug_assertions)]
mod held;
mod identity;
mod runner;
mod seal;
mod signing;

pub use contract::ContractSecret;
pub use credentials::{Credentials, KeyEntry, KeyKind, KeyName, Listed};
pub use derive::derive;
#[cfg(debug_assertions)]
pub use held::hold;

pub use envelope::{Envelope, MAX_ENVELOPE_BYTES, OpenError, SealError};
pub use identity::IdentitySource;
pub use runner::Runner;
pub use seal::{Recipient, recipients};
pub use signing::{PublicKey, SigningKey, verify};

pub use opal_core::keys::{KeyError, KeyErrorKind};

/// Bytes of a file that holds a key.
const MAX_KEY_BYTES: u64 = 16 * 1024;

/// Fresh bytes of the operating system.
fn fresh() -> opal_core::wiped::Wiped<[u8; 32]> {
    let mut bytes = opal_core::wiped::Wiped::new([0; 32]);
    random(&mut *bytes);
    bytes
}

/// Bytes that only these can read: one binary age file. None without a recipient.
#[must_use]
pub fn seal_to(plain: &[u8], recipients: &[Recipient]) -> Option<Vec<u8>> {
    seal::seal(plain, recipients)
}

/// Bytes for a name that no other run has.
#[must_use]
pub fn name() -> [u8; 4] {
    let mut bytes = [0; 4];
    random(&mut bytes);
    bytes
}

/// Bytes for a word that nobody can guess.
#[must_use]
pub fn unguessable() -> [u8; 16] {
    let mut bytes = [0; 16];
    random(&mut bytes);
    bytes
}

/// The one place that draws random bytes.
fn random(bytes: &mut [u8]) {
    #[cfg(debug_assertions)]
    if held::fill(bytes) {
        return;
    }
    getrandom::fill(bytes).expect("the operating system has randomness");
}
