//! How many connections are made at the same time.
//!
//! A server, or a jump host before many, closes connections when too many are not let in yet
//! (`MaxStartups`). So there are few at first, twice as many after each few that succeed, and half as
//! many when one is turned away; that one tries again a little later.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opal_session::stop::{Order, Stop};

use super::error::{DialCause, DialError};
use super::nonce;

/// At first, and how many must succeed before there are more.
const FIRST: usize = 8;

/// Connections to one host.
const ATTEMPTS: u32 = 5;

/// Before the second attempt at most; twice as long before each later one.
const PAUSE: Duration = Duration::from_millis(400);

/// How often who waits looks whether it still should.
const TICK: Duration = Duration::from_millis(50);

/// Shared by all connections of a run.
#[derive(Debug)]
pub struct Pace {
    state: Mutex<State>,
    freed: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State {
    allowed: usize,
    running: usize,
    /// Since the number was changed.
    successes: usize,
}

impl Pace {
    /// Never more than `most` at a time.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        let state = State { allowed: FIRST.min(most), running: 0, successes: 0 };
        Self { state: Mutex::new(state), freed: Condvar::new(), most }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a connection when it is its turn. One that is turned away is tried again, unless it
    /// `gives_password`: a password is given once.
    pub fn dial<T>(
        &self,
        gives_password: bool,
        stop: &Stop,
        dial: impl Fn() -> Result<T, DialError>,
    ) -> Result<T, DialError> {
        let attempts = if gives_password { 1 } else { ATTEMPTS };
        let mut attempt = 1;
        loop {
            self.enter(stop);
            let dialled = dial();
            let is_turned_away = dialled.as_ref().is_err_and(DialError::is_turned_away);
            self.leave(is_turned_away, dialled.is_ok());
            if !is_turned_away || attempt == attempts {
                return dialled;
            }
            let _ = stop.wait(&[], Some(pause(attempt)), Order::GoOn);
            if let (Err(error), true) = (&dialled, stop.order() != Order::GoOn) {
                return Err(DialError { cause: DialCause::Stopped, ..error.clone() });
            }
            attempt += 1;
        }
    }

    /// Whoever is to stop goes on at once: nothing is dialled any more.
    fn enter(&self, stop: &Stop) {
        let mut state = self.lock();
        while state.running >= state.allowed && stop.order() == Order::GoOn {
            let waited = self.freed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.running += 1;
    }

    fn leave(&self, is_turned_away: bool, is_success: bool) {
        let mut state = self.lock();
        state.running -= 1;
        if is_turned_away {
            (state.allowed, state.successes) = ((state.allowed / 2).max(1), 0);
        } else if is_success {
            state.successes += 1;
            if state.successes >= FIRST {
                (state.allowed, state.successes) = ((state.allowed * 2).min(self.most), 0);
            }
        }
        drop(state);
        self.freed.notify_all();
    }
}

/// Between half of it and all of it, so that not all come back at once.
fn pause(attempt: u32) -> Duration {
    let most = PAUSE.saturating_mul(1 << attempt.min(8));
    let share = nonce::draw().map_or(255, |nonce| nonce.0[0]);
    most / 2 + most.mul_f64(f64::from(share) / 512.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dial::said::Said;

    fn error(complaint: &str) -> DialError {
        let mut said = Said::default();
        said.complaint(complaint.as_bytes());
        let hop = opal_core::target::Hop::Local;
        let cause = DialCause::Ended { code: Some(255) };
        DialError {
            target: "web1".parse().unwrap(),
            hop,
            cause,
            gives_password: false,
            said: Box::new(said),
        }
    }

    #[test]
    fn more_connect_after_successes_and_fewer_after_one_that_is_turned_away() {
        let (pace, stop) = (Pace::new(20), Stop::new());
        let allowed = || pace.lock().allowed;
        assert_eq!(allowed(), 8);
        for expected in [8, 16, 20] {
            assert_eq!(allowed(), expected);
            for _ in 0..8 {
                pace.dial(false, &stop, || Ok(())).unwrap();
            }
        }
        let closed = "kex_exchange_identification: Connection closed by remote host";
        let tries = std::cell::Cell::new(0);
        let dial = || {
            tries.set(tries.get() + 1);
            Err::<(), _>(error(closed))
        };
        pace.dial(true, &stop, dial).unwrap_err();
        assert_eq!((tries.get(), allowed()), (1, 10), "a password is given once");
        let away = std::cell::Cell::new(3);
        pace.dial(false, &stop, || {
            away.set(away.get() - 1);
            if away.get() > 0 { Err(error(closed)) } else { Ok(()) }
        })
        .unwrap();
        assert_eq!(allowed(), 2);
        // Any other failure is what it is.
        tries.set(0);
        let dial = || {
            tries.set(tries.get() + 1);
            Err::<(), _>(error("Permission denied"))
        };
        pace.dial(false, &stop, dial).unwrap_err();
        assert_eq!((tries.get(), allowed()), (1, 2));
        assert!(error("ssh_exchange_identification: read: Connection reset").is_turned_away());
        let other = "kex_exchange_identification: No SSH version received in first 1024 lines";
        assert!(!error(other).is_turned_away(), "no SSH server");
        assert_eq!(Pace::new(3).lock().allowed, 3);
    }
}
