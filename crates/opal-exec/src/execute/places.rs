//! How many may be at work at a time: branches in the whole run, and actions on what a machine has
//! one of.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use opal_core::action::Halt;

use super::halts::go_on;
use crate::threads::lock;
use opal_session::stop::Stop;

/// How soon who waits hears that it is to stop.
const HEARING: Duration = Duration::from_millis(50);

/// How many branches may be at work in the whole run.
#[derive(Debug)]
pub(super) struct Places {
    /// None where nothing limits them.
    free: Option<Mutex<usize>>,
    freed: Condvar,
}

impl Places {
    pub(super) fn new(jobs: Option<usize>) -> Self {
        Self { free: jobs.map(|jobs| Mutex::new(jobs.max(1))), freed: Condvar::new() }
    }

    pub(super) fn take(&self) {
        if let Some(free) = &self.free {
            let free = self.freed.wait_while(lock(free), |free| *free == 0);
            *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        }
    }

    pub(super) fn give_back(&self) {
        if let Some(free) = &self.free {
            *lock(free) += 1;
            self.freed.notify_one();
        }
    }
}

/// One action at a time.
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
