//! Packages of providers: what a registry says, checked; an archive, unpacked; schemas, as a manifest.
//!
//! ```text
//! opal downloads ──find──▶ which document comes next … which archive ──open──▶ files of the cache, h1:, zh:
//! accepted on this machine ──schema──▶ the provider starts once ──manifest──▶ decorators
//! ```
//!
//! | what | where |
//! |---|---|
//! | names of providers, versions and platforms | [`source`] |
//! | the documents of registries and mirrors | [`documents`] |
//! | which document comes next | [`find`] |
//! | who signed the list of digests | [`signature`] |
//! | the list of digests | [`sums`] |
//! | an archive and its files | [`archive`] |
//! | the digest of a directory, `h1:` | [`dirhash`] |
//! | keys that opal knows | [`publishers`] |
//! | all checks together | [`open`] |
//! | decorators, from schemas | [`manifest`] |
//!
//! Nothing here uses the network: opal downloads, and passes what it got.

pub mod archive;
pub mod dirhash;
pub mod documents;
pub mod find;
pub mod manifest;
pub mod open;
pub mod publishers;
pub mod signature;
pub mod source;
pub mod sums;

use std::fmt;

use opal_core::protocol::{Kind, Refusal};

/// Why a package is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    pub kind: Kind,
    pub why: String,
}

impl Rejected {
    /// Bytes, a key or a digest that is not what it should be: exit code 77.
    #[must_use]
    pub fn untrusted(why: impl Into<String>) -> Self {
        Self { kind: Kind::Denied, why: why.into() }
    }

    /// A document or an archive that is not one.
    #[must_use]
    pub fn invalid(why: impl Into<String>) -> Self {
        Self { kind: Kind::Invalid, why: why.into() }
    }

    /// There is none.
    #[must_use]
    pub fn missing(why: impl Into<String>) -> Self {
        Self { kind: Kind::Missing, why: why.into() }
    }

    /// The files of this machine.
    #[must_use]
    pub fn failed(what: &str, error: &std::io::Error) -> Self {
        Self { kind: Kind::Failed, why: format!("{what}: {}", error.kind()) }
    }

    #[must_use]
    pub fn refusal(&self, of: &str) -> Refusal {
        Refusal::new(self.kind, format!("{of}: {}", self.why))
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Rejected {}

/// Bytes as lower case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
