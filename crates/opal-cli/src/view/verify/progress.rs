//! A sign of life on the terminal while looking takes longer than a moment.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::dispatch::Context;
use crate::options::Asked;
use crate::view::run::time;
use crate::view::say;

/// What ends before this needs no sign.
const MOMENT: Duration = Duration::from_millis(400);

const TICK: Duration = Duration::from_millis(200);

/// Gone from the screen when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    total: usize,
    since: Instant,
}

#[derive(Debug, Default)]
struct State {
    done: usize,
    is_over: bool,
}

impl Progress {
    /// Of `total` looks; where there is no terminal to move on, nothing is ever shown.
    pub(crate) fn begin(context: &Context<'_>, asked: &Asked, total: usize) -> Self {
        let (state, wake) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { state, wake, total, since: Instant::now() });
        let ambient = context.ambient;
        let is_shown = ambient.stderr_is_terminal && !ambient.is_dumb && !asked.run.quiet;
        let drawing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("view".into()).stack_size(128 * 1024);
        // Without a thread to spare there is only silence.
        let thread = is_shown.then(|| thread.spawn(move || drawing.keep_drawing()).ok()).flatten();
        Self { shared, thread }
    }

    /// One more was looked at.
    pub(crate) fn another(&self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).done += 1;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has nothing to say that matters.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn keep_drawing(&self) {
        let (mut pause, mut is_drawn) = (MOMENT, false);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_over {
            let waited = self.wake.wait_timeout_while(state, pause, |state| !state.is_over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !state.is_over {
                let (done, total) = (state.done, self.total);
                say(&format!(
                    "\r\x1b[2Klooking: {done} of {total}, {}",
                    time(self.since.elapsed())
                ));
                (pause, is_drawn) = (TICK, true);
            }
        }
        if is_drawn {
            say("\r\x1b[2K");
        }
    }
}
