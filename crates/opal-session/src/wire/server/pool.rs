//! Threads for requests: one that is idle, or a new one. So a request never waits for another.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// Threads that wait for the next request; more of them end.
const MAX_IDLE: usize = 8;

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
}

impl Pool {
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.jobs.push_back(Box::new(job));
        if state.idle >= state.jobs.len() {
            self.0.added.notify_one();
            return;
        }
        drop(state);
        let inner = Arc::clone(&self.0);
        let started = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || inner.work());
        // Without another thread one that is there does it later; without any, this one does it now.
        if started.is_err() {
            let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
            let job = if state.idle == 0 { state.jobs.pop_front() } else { None };
            drop(state);
            job.into_iter().for_each(|job| job());
        }
    }
}

impl Inner {
    fn work(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job();
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if state.idle == MAX_IDLE {
                return;
            }
            state.idle += 1;
            state = self.added.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}
