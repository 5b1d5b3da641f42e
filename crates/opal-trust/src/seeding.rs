//! What the random numbers of plugins come from: the secret of the contract that is made or run, else of the run.
//! So they are the same in every run of a contract, and nobody elsewhere can predict them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use opal_core::hash::Digest;
use opal_core::wiped::Wiped;

use crate::keys::ContractSecret;

/// Of this process.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

struct Held {
    seed: Wiped<[u8; 32]>,
    is_of_contract: bool,
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The secret of a contract that was opened.
pub(crate) fn of_contract(secret: &ContractSecret) {
    *held() = Some(Held { seed: secret.plugin_seed(), is_of_contract: true });
}

/// The secret of what is being planned, which a contract may carry. What a contract that was opened says stays.
pub(crate) fn of_plan(secret: &ContractSecret) {
    let mut held = held();
    if !held.as_ref().is_some_and(|held| held.is_of_contract) {
        *held = Some(Held { seed: secret.plugin_seed(), is_of_contract: false });
    }
}

/// The seed of one call, by what it is a call of.
#[must_use]
pub fn seed(parts: &[&[u8]]) -> Digest {
    let mut held = held();
    let fresh = || Held { seed: ContractSecret::fresh().plugin_seed(), is_of_contract: false };
    let held = held.get_or_insert_with(fresh);
    crate::entries::keyed(&held.seed, parts)
}
