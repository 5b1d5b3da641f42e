//! At most so many at a time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use opal_session::stop::{Order, Stop};

/// How often who waits looks whether that still makes sense.
const TICK: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Gate(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    left: Mutex<usize>,
    freed: Condvar,
}

/// One that has passed, for as long as it is there.
#[derive(Debug)]
pub(crate) struct Passed(Arc<Inner>);

impl Gate {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Inner { left: Mutex::new(most), freed: Condvar::new() }))
    }

    /// Waits for its turn; none where waiting makes no sense any more.
    pub(super) fn pass(&self, stop: &Stop, goes_on: impl Fn() -> bool) -> Option<Passed> {
        let mut left = self.0.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left == 0 {
            if !goes_on() || stop.order() == Order::Kill {
                return None;
            }
            let waited = self.0.freed.wait_timeout(left, TICK);
            left = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *left -= 1;
        Some(Passed(Arc::clone(&self.0)))
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        *self.0.left.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
