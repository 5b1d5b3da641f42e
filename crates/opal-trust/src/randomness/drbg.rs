//! Bytes without end from 32 of them.

use std::fmt;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use opal_core::hash::Digest;
use opal_core::resolver::Stream;
use opal_core::wiped::Wipe;

use crate::keys::derive;

/// The key stream of ChaCha20 (RFC 8439) with a nonce of zeros, under a key that is used for
/// nothing else.
pub struct Drbg(ChaCha20);

/// One use of a random value in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    pub plan: &'a Digest,
    /// The path of the step.
    pub path: &'a str,
    /// The path of the decorator, `random.password`.
    pub decorator: &'a str,
    /// Which use in the step it is, from 0.
    pub counter: u64,
}

impl Drbg {
    /// The stream of one site: its key is HKDF of the seed over PlanHash, step path, decorator and
    /// counter.
    #[must_use]
    pub fn of_site(seed: &[u8; 32], site: &Site<'_>) -> Self {
        let counter = site.counter.to_le_bytes();
        let parts =
            [site.plan.0.as_slice(), site.path.as_bytes(), site.decorator.as_bytes(), &counter];
        Self::keyed(&derive(seed, "opal random value v1", &parts))
    }

    /// The stream of a value with a `regen_key`, from the subkey of a runner or an envelope.
    #[must_use]
    pub fn of_regen(subkey: &[u8; 32]) -> Self {
        Self::keyed(&derive(subkey, "opal lasting random value v1", &[]))
    }

    fn keyed(key: &[u8; 32]) -> Self {
        Self(ChaCha20::new(key.into(), &[0; 12].into()))
    }
}

impl Stream for Drbg {
    /// The stream is longer than any value: 256 GiB, where the longest value takes kilobytes.
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.wipe();
        self.0.apply_keystream(bytes);
    }
}

impl fmt::Debug for Drbg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drbg(…)")
    }
}
