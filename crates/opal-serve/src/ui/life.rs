//! How long a connection may live.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a connection may take longer than a request: it is a stream of events.
#[derive(Clone, Debug, Default)]
pub(super) struct Life(Arc<AtomicBool>);

impl Life {
    pub(super) fn goes_on(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What is left to send must be taken in the time of a request.
    pub(super) fn ends(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_long(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
