//! Random bytes that a test of the whole program knows beforehand. A release build does not contain
//! this file.

use std::sync::{Mutex, OnceLock, PoisonError};

use opal_core::hash::Algorithm;

/// The seed, and how often it was drawn from.
static SEED: OnceLock<(String, Mutex<u64>)> = OnceLock::new();

/// All random bytes follow from this seed from now on; the first call counts.
pub fn hold(seed: &str) {
    let _ = SEED.set((seed.to_owned(), Mutex::new(0)));
}

/// Whether there is a seed: then the bytes follow from it.
pub(super) fn fill(bytes: &mut [u8]) -> bool {
    let Some((seed, count)) = SEED.get() else { return false };
    let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
    for chunk in bytes.chunks_mut(32) {
        *count += 1;
        let digest = Algorithm::Sha256.digest(&[seed.as_bytes(), &count.to_le_bytes()]);
        chunk.copy_from_slice(&digest.0[..chunk.len()]);
    }
    true
}
