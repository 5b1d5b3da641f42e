//! The threads that answer calls. One that waits for opal holds nobody else up: another takes its place.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Threads that compute at a time. opal limits how many calls are open, and so how many threads wait.
const MOST: usize = 64;

type Work = Box<dyn FnOnce() + Send>;

#[derive(Clone, Default)]
pub(crate) struct Workers(Arc<(Mutex<Queue>, Condvar)>);

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    /// Threads without work.
    idle: usize,
    /// Threads that wait for opal in the middle of their work.
    asking: usize,
    threads: usize,
}

impl Queue {
    const fn computing(&self) -> usize {
        self.threads - self.asking - self.idle
    }
}

impl Workers {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        let mut queue = self.queue();
        queue.waiting.push_back(Box::new(work));
        self.staff(&mut queue);
    }

    /// Waits for opal, in the middle of work.
    pub(crate) fn aside<T>(&self, wait: impl FnOnce() -> T) -> T {
        {
            let mut queue = self.queue();
            queue.asking += 1;
            self.staff(&mut queue);
        }
        let found = wait();
        self.queue().asking -= 1;
        found
    }

    /// Finds a thread for what waits.
    fn staff(&self, queue: &mut Queue) {
        // One of so many that compute takes it next.
        if queue.waiting.is_empty() || queue.computing() >= MOST {
            return;
        }
        if queue.idle >= queue.waiting.len() {
            self.0.1.notify_one();
            return;
        }
        queue.threads += 1;
        let own = self.clone();
        thread::spawn(move || own.work());
    }

    fn work(&self) {
        let mut queue = self.queue();
        loop {
            // Others took the place of this one while it waited for opal.
            let is_surplus = queue.computing() > MOST;
            let work = if is_surplus { None } else { queue.waiting.pop_front() };
            if let Some(work) = work {
                drop(queue);
                work();
                queue = self.queue();
            } else if is_surplus || queue.computing() + queue.idle > MOST {
                queue.threads -= 1;
                return;
            } else {
                queue.idle += 1;
                queue = self.0.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.idle -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn all_that_wait_for_opal_wait_at_the_same_time() {
        const CALLS: usize = 5 * MOST;
        let (workers, barrier) = (Workers::default(), Arc::new(Barrier::new(CALLS)));
        let (send, done) = channel();
        for _ in 0..CALLS {
            let (own, barrier, send) = (workers.clone(), Arc::clone(&barrier), send.clone());
            workers.run(move || {
                own.aside(|| barrier.wait());
                send.send(()).unwrap();
            });
        }
        drop(send);
        assert_eq!(done.iter().take(CALLS).count(), CALLS);
        // What comes next still finds a thread, and there are no more threads than compute.
        let (send, done) = channel();
        for _ in 0..CALLS {
            let send = send.clone();
            workers.run(move || send.send(()).unwrap());
        }
        drop(send);
        assert_eq!(done.iter().count(), CALLS);
        assert!(workers.queue().asking == 0);
    }
}
