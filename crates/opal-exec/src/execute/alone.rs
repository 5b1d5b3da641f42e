//! One at a time: actions on what a machine has one of.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use opal_core::action::Halt;

use super::screen::lock;
use super::walk::go_on;
use opal_session::stop::Stop;

/// How soon who waits hears that it is to stop.
const HEARING: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(super) struct Alone {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// Nobody else acts as long as this is held.
#[derive(Debug)]
pub(super) struct Taken<'a>(&'a Alone);

impl Alone {
    /// Waits until nobody acts, or it is to stop.
    pub(super) fn take(&self, stop: &Stop) -> Result<Taken<'_>, Halt> {
        let mut is_taken = lock(&self.is_taken);
        while *is_taken {
            go_on(stop)?;
            let waited = self.freed.wait_timeout(is_taken, HEARING);
            is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        go_on(stop)?;
        *is_taken = true;
        Ok(Taken(self))
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *lock(&self.0.is_taken) = false;
        self.0.freed.notify_one();
    }
}
