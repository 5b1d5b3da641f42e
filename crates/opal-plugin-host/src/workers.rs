//! The threads that answer calls. One that waits for opal holds nobody else up.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// Threads at most.
const MOST: usize = 64;

type Work = Box<dyn FnOnce() + Send>;

#[derive(Clone, Default)]
pub(crate) struct Workers(Arc<(Mutex<Queue>, Condvar)>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    idle: usize,
    threads: usize,
}

impl Workers {
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        let (queue, wake) = &*self.0;
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting.push_back(Box::new(work));
        if queue.idle >= queue.waiting.len() || queue.threads == MOST {
            wake.notify_one();
            return;
        }
        queue.threads += 1;
        let own = self.clone();
        thread::spawn(move || own.work());
    }

    fn work(&self) {
        let (queue, wake) = &*self.0;
        let mut queue_now = queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(work) = queue_now.waiting.pop_front() {
                drop(queue_now);
                work();
                queue_now = queue.lock().unwrap_or_else(PoisonError::into_inner);
            } else {
                queue_now.idle += 1;
                queue_now = wake.wait(queue_now).unwrap_or_else(PoisonError::into_inner);
                queue_now.idle -= 1;
            }
        }
    }
}
