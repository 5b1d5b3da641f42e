//! Threads for requests: one that is idle, or a new one. So a request never waits for another.
//!
//! Of many requests that come at once, each thread that takes one wakes the next thread. Quick requests are
//! done by the few that are awake by then.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Threads that wait for the next request; more of them end.
const MAX_IDLE: usize = 16;

/// The deepest thing that a request does is compiling a script.
const STACK_BYTES: usize = 1024 * 1024;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct Pool(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    added: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: usize,
    /// Whether a thread was woken or started that has not looked for a job yet.
    is_coming: bool,
}

impl Pool {
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        state.jobs.push_back(Box::new(job));
        // Without another thread one that is there does it later; without any, this one does it now.
        if !self.0.call(state) {
            let mut state = self.0.lock();
            let job = if state.threads == 0 { state.jobs.pop_front() } else { None };
            drop(state);
            job.into_iter().for_each(|job| job());
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that a thread comes for what is waiting; whether one does.
    fn call(self: &Arc<Self>, mut state: MutexGuard<'_, State>) -> bool {
        if state.is_coming {
            return true;
        }
        state.is_coming = true;
        if state.idle > 0 {
            drop(state);
            self.added.notify_one();
            return true;
        }
        state.threads += 1;
        drop(state);
        let inner = Arc::clone(self);
        let started = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || inner.work());
        if started.is_err() {
            let mut state = self.lock();
            state.threads -= 1;
            state.is_coming = false;
        }
        started.is_ok()
    }

    fn work(self: &Arc<Self>) {
        let mut state = self.lock();
        state.is_coming = false;
        loop {
            if let Some(job) = state.jobs.pop_front() {
                match state.jobs.is_empty() {
                    true => drop(state),
                    false => _ = self.call(state),
                }
                job();
                state = self.lock();
                continue;
            }
            if state.idle == MAX_IDLE {
                state.threads -= 1;
                return;
            }
            state.idle += 1;
            let is_idle = |state: &mut State| !state.is_coming;
            state = self.added.wait_while(state, is_idle).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            state.is_coming = false;
        }
    }
}
