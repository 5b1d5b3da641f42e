//! How many commands run.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Commands that run now, in all sessions of the process.
pub(super) static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// One of them, for as long as it is there.
pub(super) struct Counted;

impl Counted {
    pub(super) fn new() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}
