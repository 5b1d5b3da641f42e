//! Many requests for few processes, whose answers are only computed.
//!
//! As many processes work as there are processors: more would only take longer to start. Who has one
//! of them takes along what others ask meanwhile, because a process that gets several requests at once
//! is woken up once.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};

use opal_core::wiped::Wiped;

use crate::{Parcel, Unusable};

/// So much fits into a pipe: a process reads all of it before anybody has to read its answers.
pub(crate) const PIPE_BYTES: usize = 64 * 1024;

/// A parcel as it is sent.
pub(crate) type Sent = Wiped<Vec<u8>>;

/// What a process has answered to each request.
pub(crate) type Answers = Vec<Result<Parcel, Unusable>>;

#[derive(Debug, Default)]
pub(crate) struct Desk {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    answers: BTreeMap<u64, Result<Parcel, Unusable>>,
    processes: usize,
    asked: u64,
}

struct Waiting {
    number: u64,
    request: Sent,
    who: Thread,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Desk {
    /// The answer to a request. `ask` has a process answer some, this one or those of others.
    pub(crate) fn answer(
        &self,
        request: Sent,
        ask: impl Fn(&[Sent]) -> Answers,
    ) -> Result<Parcel, Unusable> {
        let mut state = self.lock();
        let number = state.asked;
        state.asked += 1;
        state.waiting.push_back(Waiting { number, request, who: thread::current() });
        loop {
            if let Some(answer) = state.answers.remove(&number) {
                return answer;
            }
            let Some(some) = state.take(most()) else {
                drop(state);
                // Whoever answers this request, or leaves a process free, wakes this thread up.
                thread::park();
                state = self.lock();
                continue;
            };
            state.wake_next();
            drop(state);
            let (requests, owners): (Vec<_>, Vec<_>) =
                some.into_iter().map(|it| (it.request, (it.number, it.who))).unzip();
            let answers = ask(&requests);
            state = self.lock();
            state.processes -= 1;
            for ((number, who), answer) in owners.into_iter().zip(answers) {
                state.answers.insert(number, answer);
                who.unpark();
            }
            state.wake_next();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Requests for one process, where one is free.
    fn take(&mut self, most: usize) -> Option<Vec<Waiting>> {
        if self.processes >= most || self.waiting.is_empty() {
            return None;
        }
        self.processes += 1;
        let mut bytes = 0;
        let mut taken = Vec::new();
        while let Some(next) = self.waiting.front()
            && (taken.is_empty() || bytes + next.request.len() <= PIPE_BYTES)
        {
            bytes += next.request.len();
            taken.extend(self.waiting.pop_front());
        }
        Some(taken)
    }

    /// Whoever waits longest may find a free process.
    fn wake_next(&self) {
        if let Some(next) = self.waiting.front() {
            next.who.unpark();
        }
    }
}

fn most() -> usize {
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;

    #[test]
    fn everybody_gets_the_answer_to_their_own_request() {
        let (desk, now, peak) = (Desk::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let ask = |requests: &[Sent]| {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            assert!(
                requests.len() == 1
                    || requests.iter().map(|it| it.len()).sum::<usize>() <= PIPE_BYTES
            );
            thread::yield_now();
            now.fetch_sub(1, Ordering::SeqCst);
            let answer = |it: &Sent| Ok(Parcel::new(json!(it.len())));
            requests.iter().map(answer).collect()
        };
        thread::scope(|scope| {
            for thread in 0..16 {
                let (desk, ask) = (&desk, &ask);
                scope.spawn(move || {
                    for round in 0..50 {
                        // One in seven is larger than a pipe.
                        let length =
                            thread * 1_000 + round + if round % 7 == 0 { 70_000 } else { 0 };
                        let found = desk.answer(Wiped::new(vec![0; length]), ask).unwrap();
                        assert_eq!(found.head, json!(length));
                    }
                });
            }
        });
        assert!(peak.into_inner() <= most());
    }
}
