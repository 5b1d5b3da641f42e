//! How much of a stream may be on its way.
//!
//! Who receives grants, who sends keeps to it: so a target that prints without end fills no memory,
//! and a slow reader slows down the program that prints, as a pipe does.

use std::io::ErrorKind;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::codec::Malformed;
use super::{LEAST_WINDOW, MAX_ALL_BUFFERS, MAX_BUFFERS, MAX_REQUESTS, WINDOW};

/// How often someone who waits to send asks whether to go on waiting.
const TICK: Duration = Duration::from_millis(50);

/// The books of who receives a stream.
#[derive(Debug)]
pub struct Account {
    window: u32,
    /// What the sender may still send.
    left: u64,
    received: u64,
    /// What was taken and not granted again yet.
    taken: u32,
}

impl Account {
    #[must_use]
    pub fn new(window: u32) -> Self {
        Self { window, left: u64::from(window), received: 0, taken: 0 }
    }

    #[must_use]
    pub fn window(&self) -> u32 {
        self.window
    }

    /// So much has come.
    pub fn receive(&mut self, bytes: usize) -> Result<(), Malformed> {
        let bytes = bytes as u64;
        // It would cost memory, and nothing of the window.
        if bytes == 0 {
            return Err(Malformed("a piece of a stream is empty"));
        }
        self.left = self.left.checked_sub(bytes).ok_or(Malformed("more was sent than allowed"))?;
        self.received += bytes;
        Ok(())
    }

    /// The sender says that so much was to come.
    pub fn end(&self, count: u64) -> Result<(), Malformed> {
        match self.received == count {
            true => Ok(()),
            false => Err(Malformed("a part of a stream is missing")),
        }
    }

    /// So much is out of the way: what to grant, once it is worth a frame.
    pub fn take(&mut self, bytes: usize) -> Option<u32> {
        self.taken = self.taken.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        if self.taken < self.window / 2 {
            return None;
        }
        let granted = std::mem::take(&mut self.taken);
        self.left += u64::from(granted);
        Some(granted)
    }
}

/// Where who sends a stream waits for permission.
#[derive(Debug, Default)]
pub struct Outlet {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    credit: u64,
    closed: Option<ErrorKind>,
}

impl Outlet {
    #[must_use]
    pub fn new(window: u32) -> Self {
        let state = State { credit: u64::from(window), closed: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub fn grant(&self, bytes: u32) -> Result<(), Malformed> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.credit += u64::from(bytes);
        if state.credit > u64::from(WINDOW) {
            return Err(Malformed("a window of more than 1 MiB"));
        }
        self.changed.notify_all();
        Ok(())
    }

    /// So much was allowed and not sent.
    pub fn refund(&self, bytes: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).credit += bytes as u64;
    }

    /// Nobody wants more of it, for this reason. The first one counts.
    pub fn close(&self, why: ErrorKind) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed.get_or_insert(why);
        self.changed.notify_all();
    }

    /// Whether nobody wants more.
    #[must_use]
    pub fn closed(&self) -> Option<ErrorKind> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    /// Waits for permission to send, at most so many bytes, as long as `goes_on` says so.
    pub fn wait(&self, most: usize, mut goes_on: impl FnMut() -> bool) -> Result<usize, ErrorKind> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(why) = state.closed {
                return Err(why);
            }
            if state.credit > 0 {
                let now = usize::try_from(state.credit).unwrap_or(usize::MAX).min(most);
                state.credit -= now as u64;
                return Ok(now);
            }
            if !goes_on() {
                return Err(ErrorKind::Interrupted);
            }
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What all targets share, besides the least that each stream gets.
#[derive(Debug)]
pub struct Total(Mutex<u64>);

/// Of this process.
static ALL: Total = Total::new(MAX_ALL_BUFFERS);

impl Total {
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(Mutex::new(bytes))
    }

    /// So much, or what is left.
    fn take(&self, most: u32) -> u32 {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = u32::try_from(*left).unwrap_or(u32::MAX).min(most);
        *left -= u64::from(taken);
        taken
    }

    fn give_back(&self, bytes: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += bytes;
    }
}

/// What all streams of a target share, besides the least that each of them gets.
#[derive(Debug)]
pub struct Budget {
    left: Mutex<u64>,
    all: &'static Total,
}

/// So that there are never more than [`MAX_BUFFERS`], with the least of all streams.
const SHARED: u64 = MAX_BUFFERS - MAX_REQUESTS as u64 * LEAST_WINDOW as u64;

impl Default for Budget {
    fn default() -> Self {
        Self::of(&ALL)
    }
}

impl Budget {
    /// Of a target that shares with others.
    #[must_use]
    pub fn of(all: &'static Total) -> Self {
        Self { left: Mutex::new(SHARED), all }
    }

    /// A window for a new stream: smaller where many are open, here or on other targets.
    pub fn take(&self) -> u32 {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let half = u32::try_from(*left / 2).unwrap_or(WINDOW);
        let more = self.all.take(half.min(WINDOW - LEAST_WINDOW));
        *left -= u64::from(more);
        LEAST_WINDOW + more
    }

    pub fn give_back(&self, window: u32) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let more = u64::from(window.saturating_sub(LEAST_WINDOW)).min(SHARED - *left);
        *left += more;
        self.all.give_back(more);
    }
}

/// What streams of a connection that is gone have taken.
impl Drop for Budget {
    fn drop(&mut self) {
        let left = *self.left.lock().unwrap_or_else(PoisonError::into_inner);
        self.all.give_back(SHARED - left);
    }
}
