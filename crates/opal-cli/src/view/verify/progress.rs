//! A line on the terminal while verifying takes longer than a moment: how far it is, and what it waits
//! for.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use opal_core::gather;
use opal_core::view::visible;
use opal_exec::verify::Progress as News;

use crate::view::run::{fitting, time};
use crate::view::say;

/// What ends before this needs no sign.
const MOMENT: Duration = Duration::from_millis(400);

const TICK: Duration = Duration::from_millis(200);

/// Resources that are named, of those that are being verified.
const MAX_NAMES: usize = 3;

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
    /// By their names: since when.
    running: BTreeMap<String, Instant>,
    is_over: bool,
}

impl Progress {
    /// Of `total` resources. It is shown only on a terminal that can move its cursor.
    pub(crate) fn begin(total: usize, is_shown: bool) -> Self {
        let (state, wake) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { state, wake, total, since: Instant::now() });
        let drawing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("view".into()).stack_size(128 * 1024);
        // Without a thread to spare there is only silence.
        let thread = is_shown.then(|| thread.spawn(move || drawing.keep_drawing()).ok()).flatten();
        Self { shared, thread }
    }

    pub(crate) fn heard(&self, news: News<'_>, is_counted: impl Fn(&str) -> bool) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        match news {
            News::Began(name) => {
                state.running.insert(name.to_owned(), Instant::now());
            }
            News::Ended(verification) => {
                state.running.remove(&verification.id);
                state.done += usize::from(is_counted(&verification.path));
            }
        }
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
                let line = state.line(self.total, self.since.elapsed());
                say(&format!("\r\x1b[2K{}", fitting(&line)));
                (pause, is_drawn) = (TICK, true);
            }
        }
        if is_drawn {
            say("\r\x1b[2K");
        }
    }
}

impl State {
    /// `verifying: 3 of 7, 2.1s: nginx, repo, conf and 2 more`, the longest wait first.
    fn line(&self, total: usize, elapsed: Duration) -> String {
        let mut waits: Vec<(&Instant, &String)> =
            self.running.iter().map(|(name, since)| (since, name)).collect();
        gather::sort_by(&mut waits, Ord::cmp);
        let names = waits.iter().take(MAX_NAMES).map(|(_, name)| visible::line(name));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = match waits.len().saturating_sub(MAX_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let waits = if names.is_empty() { names } else { format!(": {names}{more}") };
        format!("verifying: {} of {total}, {}{waits}", self.done, time(elapsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_longest_waits_first() {
        let since = Instant::now();
        let running = ["d", "c", "b", "a\u{1b}[2J"].into_iter().zip(0..);
        let running = running.map(|(name, n)| (name.to_owned(), since + Duration::from_secs(n)));
        let mut state = State { running: running.collect(), done: 2, is_over: false };
        let line = state.line(9, Duration::from_secs(3));
        assert_eq!(line, "verifying: 2 of 9, 3.0s: d, c, b and 1 more");
        state.running.retain(|name, _| name.starts_with('a'));
        let line = state.line(9, Duration::from_secs(3));
        assert!(line.contains("3.0s: a") && !line.contains('\u{1b}'), "{line}");
        state.running.clear();
        assert_eq!(state.line(9, Duration::from_secs(3)), "verifying: 2 of 9, 3.0s");
    }
}
