//! Work that several threads share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Jobs that whoever has nothing to do takes.
#[derive(Debug)]
pub(super) struct Shared<T> {
    state: Mutex<State<T>>,
    bell: Condvar,
    /// How many threads have nothing to do.
    waiting: AtomicUsize,
    counted: AtomicUsize,
    has_ended: AtomicBool,
}

#[derive(Debug)]
struct State<T> {
    jobs: Vec<T>,
    threads: usize,
}

impl<T> Shared<T> {
    /// For the thread that begins.
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State { jobs: Vec::new(), threads: 1 }),
            bell: Condvar::new(),
            waiting: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
        }
    }

    /// One more thread takes part.
    pub(super) fn join(&self) {
        self.state().threads += 1;
    }

    /// One more of what may not be too many; how many there are now.
    pub(super) fn count(&self) -> usize {
        self.counted.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Gives half of the jobs to others, where somebody has none: the oldest, which are the largest.
    pub(super) fn share(&self, jobs: &mut Vec<T>) {
        if jobs.len() > 1 && self.waiting.load(Ordering::Relaxed) > 0 {
            let half = jobs.len() / 2;
            self.state().jobs.extend(jobs.drain(..half));
            self.bell.notify_all();
        }
    }

    /// A job of another thread; none where nobody has any left.
    pub(super) fn next(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if self.has_ended() {
                return None;
            }
            if let Some(job) = state.jobs.pop() {
                return Some(job);
            }
            if self.waiting.fetch_add(1, Ordering::Relaxed) + 1 == state.threads {
                self.has_ended.store(true, Ordering::Relaxed);
                self.bell.notify_all();
                return None;
            }
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Nobody takes another job.
    pub(super) fn end(&self) {
        // Whoever is about to wait has seen it, or hears the bell.
        let state = self.state();
        self.has_ended.store(true, Ordering::Relaxed);
        drop(state);
        self.bell.notify_all();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
