//! What the threads of a run and of a verification have in common.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stack of a thread that runs steps or verifies what they describe: that of a main thread, so that
/// a template may nest as deeply in one of many steps as in a single one. It is only reserved.
pub(crate) const STACK_BYTES: usize = 8 * 1024 * 1024;

/// A branch that panicked holds nobody else up.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
