//! What plugins get from the machine's key: MACs of their compiled code, so that only what this machine
//! compiled is run, and seals of what they opened.

use std::fmt;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};
use opal_core::hash::Digest;
use opal_core::wiped::Wiped;
use opal_vault::root::Root;

use crate::entries::keyed;
use crate::keys::Runner;

pub struct CodeKey {
    mac: Wiped<[u8; 32]>,
    seal: Wiped<[u8; 32]>,
    is_kept: bool,
}

impl fmt::Debug for CodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeKey").finish_non_exhaustive()
    }
}

impl CodeKey {
    /// Of the key of this machine, which is made where there is none; none where it cannot be read.
    #[must_use]
    pub fn of_machine(root: &Root) -> Option<Self> {
        let runner = Runner::of_machine(root).ok()?;
        Some(Self {
            mac: runner.cache_key("opal plugin code v1"),
            seal: runner.cache_key("opal plugin seal v1"),
            is_kept: !runner.is_ephemeral(),
        })
    }

    /// Whether it outlives this process: otherwise nothing is kept under it.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.is_kept
    }

    #[must_use]
    pub fn mac(&self, parts: &[&[u8]]) -> Digest {
        keyed(&self.mac, parts)
    }

    /// Bytes that only this machine can read again, under a name that is never used twice: each name has a
    /// key of its own.
    #[must_use]
    pub fn sealed(&self, name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut sealed = bytes.to_vec();
        self.mask(name, &mut sealed);
        let mac = keyed(&self.seal, &[b"mac", name.as_bytes(), &sealed]);
        [&mac.0[..], &sealed].concat()
    }

    /// What was sealed under this name; none where this machine did not seal it.
    #[must_use]
    pub fn unsealed(&self, name: &str, sealed: &[u8]) -> Option<Wiped<Vec<u8>>> {
        let (mac, sealed) = sealed.split_first_chunk::<32>()?;
        // Compared in constant time.
        if keyed(&self.seal, &[b"mac", name.as_bytes(), sealed]) != Digest(*mac) {
            return None;
        }
        let mut bytes = Wiped::new(sealed.to_vec());
        self.mask(name, &mut bytes);
        Some(bytes)
    }

    fn mask(&self, name: &str, bytes: &mut [u8]) {
        let key = keyed(&self.seal, &[b"key", name.as_bytes()]);
        ChaCha20::new(&key.0.into(), &[0; 12].into()).apply_keystream(bytes);
    }
}
