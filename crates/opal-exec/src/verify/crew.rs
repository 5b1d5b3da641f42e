//! Threads that verify, each one resource at a time.
//!
//! A verification can hang in the system where nothing ends it: a file on a server that is gone. So
//! these threads own all they need, nobody waits for their end, and one that does not answer is
//! left while others take its place.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use opal_core::resolver::Inputs;
use opal_core::resource::Verify;

use super::resource::{Limit, ResourceFinding, VerifyTask, verify_resource};
use crate::spot::Spot;
use crate::threads::STACK_BYTES;
use opal_session::Session;
use opal_session::stop::Stop;

/// A verification that is to be done.
pub(super) struct Task {
    pub(super) index: usize,
    pub(super) verify: &'static dyn Verify,
    pub(super) inputs: Inputs,
    pub(super) session: Arc<dyn Session + Send>,
    pub(super) spot: Spot,
    pub(super) stop: Stop,
    pub(super) is_for_contract: bool,
    pub(super) limit: Limit,
}

/// What has come of it.
pub(super) struct Taken {
    pub(super) index: usize,
    pub(super) looked: ResourceFinding,
    pub(super) took: Duration,
}

pub(super) struct Crew {
    todo: Arc<Todo>,
    taken: Receiver<Taken>,
    tell: Sender<Taken>,
}

#[derive(Default)]
struct Todo {
    line: Mutex<Line>,
    more: Condvar,
}

#[derive(Default)]
struct Line {
    tasks: VecDeque<Task>,
    /// Threads that wait for a task.
    idle: usize,
    is_over: bool,
}

impl Crew {
    pub(super) fn new() -> Self {
        let (tell, taken) = channel();
        Self { todo: Arc::default(), taken, tell }
    }

    /// Has a task done, by a thread that is free or a new one.
    pub(super) fn give(&self, task: Task) {
        let mut line = self.todo.lock();
        line.tasks.push_back(task);
        if line.idle >= line.tasks.len() {
            drop(line);
            self.todo.more.notify_one();
            return;
        }
        drop(line);
        let (todo, tell) = (Arc::clone(&self.todo), self.tell.clone());
        let thread = thread::Builder::new().name("verify".to_owned()).stack_size(STACK_BYTES);
        if thread.spawn(move || work(&todo, &tell)).is_err() {
            // The system has no thread to spare: then it is done here.
            if let Some(task) = self.todo.lock().tasks.pop_back() {
                let _ = self.tell.send(task.take());
            }
        }
    }

    /// What comes back next, if it does so in time.
    pub(super) fn next(&self, wait: Duration) -> Option<Taken> {
        self.taken.recv_timeout(wait).ok()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let mut line = self.todo.lock();
        line.is_over = true;
        line.tasks.clear();
        drop(line);
        self.todo.more.notify_all();
    }
}

impl Todo {
    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task; none where there will be no more.
    fn next(&self) -> Option<Task> {
        let mut line = self.lock();
        loop {
            if let Some(task) = line.tasks.pop_front() {
                return Some(task);
            }
            if line.is_over {
                return None;
            }
            line.idle += 1;
            line = self.more.wait(line).unwrap_or_else(PoisonError::into_inner);
            line.idle -= 1;
        }
    }
}

fn work(todo: &Todo, tell: &Sender<Taken>) {
    while let Some(task) = todo.next() {
        if tell.send(task.take()).is_err() {
            return;
        }
    }
}

impl Task {
    fn take(self) -> Taken {
        let Self { index, verify, inputs, session, spot, stop, is_for_contract, limit } = self;
        let since = Instant::now();
        let place = spot.place(&stop);
        let looked = verify_resource(
            &*session,
            &VerifyTask { verify, inputs: &inputs, place, is_for_contract, limit },
        );
        Taken { index, looked, took: since.elapsed() }
    }
}
