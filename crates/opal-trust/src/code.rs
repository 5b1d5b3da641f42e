//! What plugins get from the machine's key: MACs of their compiled code, so that only what this machine
//! compiled is run, and seeds of their random numbers, which nobody elsewhere can predict.

use std::fmt;

use opal_core::hash::Digest;
use opal_core::wiped::Wiped;
use opal_vault::root::Root;

use crate::entries::keyed;
use crate::keys::Runner;

pub struct CodeKey {
    mac: Wiped<[u8; 32]>,
    seed: Wiped<[u8; 32]>,
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
            seed: runner.cache_key("opal plugin seed v1"),
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

    #[must_use]
    pub fn seed(&self, parts: &[&[u8]]) -> Digest {
        keyed(&self.seed, parts)
    }
}
