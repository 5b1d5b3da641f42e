//! What people see of a run while it goes on.
//!
//! Steps' output goes where they send it, untouched; opal's own lines go to standard error.
//!
//! | what | where |
//! |---|---|
//! | how much is shown, and how | `style` |
//! | which events are worth a line | `state` |
//! | the terminal or the pipes | `screen` |
//! | branches side by side, line by line | `lanes` |
//! | what steps on targets print | `foreign` |
//! | what passes of an output that has no terminal of its own | `plain` |
//! | branches and pauses that are waited for | `waits` |
//! | the last lines of a step, for when it fails | `tail` |
//! | the last words: failures, counts, times | `report` |
//! | groups and annotations in a workflow | `github` |
//! | the same as one JSON document | `summary`, the steps of a configuration in `ends` |
//! | how things are said | `words` |
//!
//! Deliberately not here: what happens, and in which order it is told; that is the executor's.

mod ends;
mod foreign;
mod github;
mod lanes;
mod plain;
mod report;
mod screen;
mod state;
mod style;
mod summary;
mod tail;
#[cfg(test)]
mod tests;
mod waits;
mod words;

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use opal_core::Registry;
use opal_core::plan::Plan;
use opal_core::stream::{Closed, Stream};
use opal_session::stop::Stop;
use opal_vault::Shown;
use opal_vault::Vault;
use opal_vault::event::Event;
use opal_vault::witness::{Audience, Progress};
use serde_json::Value;

use crate::failure::Failure;
pub(crate) use report::{Failed, Report, came_to, headline, in_counts};
pub(crate) use screen::fitting;
use screen::{Direct, OwnTerminal, Screen, Terminal};
use state::State;
pub(crate) use style::{Of, Style, Talk};
pub(crate) use summary::summary_json;
pub(crate) use words::{time, width as columns_of};

/// Shows a run.
#[derive(Debug)]
pub(crate) struct Live(Arc<Shared>);

/// Whether both go to the same place, as with `2>&1`.
fn is_one(out: &Direct, err: &Direct) -> bool {
    let place = |of: &Direct| {
        let found = rustix::fs::fstat(of).ok()?;
        Some((found.st_dev, found.st_ino))
    };
    place(out).is_some_and(|out| Some(out) == place(err))
}

/// With the thread that draws while nothing else happens.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

/// How often it looks while something is waited for.
const TICK: Duration = Duration::from_millis(250);

impl Live {
    /// On the standard output and error of the process.
    pub(crate) fn new(style: Style, stop: &Stop) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::unwritable("standard output", &error);
        let out = Direct::new(io::stdout(), stop).map_err(failed)?;
        let err = Direct::new(io::stderr(), stop).map_err(failed)?;
        let terminal = || Box::new(OwnTerminal) as Box<dyn Terminal>;
        let terminal = style.stderr_is_terminal.then(terminal);
        let shared = style.stdout_is_terminal && style.stderr_is_terminal || is_one(&out, &err);
        Ok(Self::on(style, Screen::new(Box::new(out), Box::new(err), terminal, shared)))
    }

    /// These steps are looked at before anything is said about them.
    pub(crate) fn with_resources(self, resources: BTreeSet<Box<str>>) -> Self {
        self.0.lock().resources = resources;
        self
    }

    fn on(style: Style, screen: Screen) -> Self {
        let state = State::new(style, screen);
        Self(Arc::new(Shared { state: Mutex::new(state), wake: Condvar::new() }))
    }

    /// The task whose steps come first: only others are named.
    pub(crate) fn begin(&self, target: &str) {
        self.0.lock().task = Some(target.to_owned());
    }

    /// What became of each step that describes a state, as JSON.
    pub(crate) fn steps_json(&self, plan: &Plan, registry: &Registry, vault: &Vault) -> Value {
        self.0.lock().ends.json(plan, registry, vault)
    }

    /// The last words.
    pub(crate) fn finish(&self, report: &Report<'_>) {
        let mut state = self.0.lock();
        state.finish(report);
    }

    /// Why standard output could not be written to its end.
    pub(crate) fn trouble(&self) -> Option<Failure> {
        let state = self.0.lock();
        state.trouble().map(|error| Failure::unwritable("standard output", error))
    }

    /// Draws while one waits, from the first time that there is something to wait for.
    fn draw(&self, state: &mut State) {
        if !state.waits() {
            return;
        }
        state.draw(Instant::now());
        if !state.is_drawing {
            let shared = self.0.clone();
            let thread = std::thread::Builder::new().name("view".into()).stack_size(128 * 1024);
            // Without it the lines stand still, which is no reason to stop.
            state.is_drawing = thread.spawn(move || shared.keep_drawing()).is_ok();
        }
        self.0.wake.notify_one();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.end();
        self.0.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_drawing(&self) {
        let mut state = self.lock();
        while !state.is_over {
            state = if state.waits() {
                let waited = self.wake.wait_timeout(state, TICK);
                waited.unwrap_or_else(PoisonError::into_inner).0
            } else {
                self.wake.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
            state.draw(Instant::now());
        }
    }
}

impl Live {
    /// Shows an event of a step that is known to be somewhere.
    pub(crate) fn told(&self, event: &Event<'_>, of: Of<'_>) {
        let mut state = self.0.lock();
        state.event(event, of);
        self.draw(&mut state);
    }
}

impl Audience for Live {
    fn event(&self, event: &Event<'_>) {
        self.told(event, Of::default());
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Closed> {
        self.0.lock().output(number, stream, bytes.bytes())
    }

    fn has_terminal(&self, number: u64) {
        self.0.lock().has_terminal(number);
    }

    fn sends(&self, path: &str, sent: &Arc<AtomicU64>) {
        let mut state = self.0.lock();
        state.sends(path, sent);
        self.draw(&mut state);
    }

    fn progress(&self, progress: &Progress<'_>) {
        let mut state = self.0.lock();
        state.progress(progress);
        self.draw(&mut state);
    }
}
