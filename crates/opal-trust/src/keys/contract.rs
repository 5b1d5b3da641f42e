//! The secret of one contract.

use std::fmt;

use opal_core::hash::{Algorithm, Digest};
use opal_core::journal::JournalKey;
use opal_core::wiped::Wiped;

use super::derive::derive;

/// 32 bytes that are drawn for one contract and travel only inside its sealed envelope.
#[derive(Clone)]
pub struct ContractSecret(Wiped<[u8; 32]>);

impl ContractSecret {
    #[must_use]
    pub fn fresh() -> Self {
        Self(super::fresh())
    }

    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(Wiped::new(*bytes))
    }

    pub(super) fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// What the authentication record is keyed with.
    #[must_use]
    pub fn auth_key(&self) -> Wiped<[u8; 32]> {
        derive(&*self.0, "opal contract authentication v1", &[])
    }

    /// What the contract's random values come from.
    #[must_use]
    pub fn seed(&self) -> Wiped<[u8; 32]> {
        derive(&*self.0, "opal contract seed v1", &[])
    }

    /// What random numbers of plugins come from.
    #[must_use]
    pub fn plugin_seed(&self) -> Wiped<[u8; 32]> {
        derive(&*self.0, "opal plugin seed v1", &[])
    }

    /// What the journal of an order on one target is authenticated with.
    #[must_use]
    pub fn journal_key(&self, order: &str, target: &str) -> JournalKey {
        let parts: [&[u8]; 2] = [order.as_bytes(), target.as_bytes()];
        JournalKey::new(*derive(&*self.0, "opal journal v1", &parts))
    }

    /// A digest of the seed, which a contract shows: SHA-256 of `opal seed hash v1` and the seed.
    #[must_use]
    pub fn seed_hash(&self) -> Digest {
        Algorithm::Sha256.digest(&[b"opal seed hash v1", &*self.seed()])
    }
}

impl fmt::Debug for ContractSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ContractSecret(…)")
    }
}
