//! `--share-io`: JSON Lines between this process and the queue runner that has started it, each of at most
//! 1 MiB.
//!
//! ```text
//! runner ──▶ {"claims": {NAME: NUMBER, …}}                       first, once
//!        ◀── {"ask": "start", "target": NAME}                    before the first step of a target
//! runner ──▶ {"start": NAME, "go": true}
//!            {"start": NAME, "go": false, "reason": TEXT}
//! runner ──▶ {"stop": REASON}                                    as TERM
//! runner ──▶ {"held": MS}                                        until when the claim holds, again and again
//!        ◀── {"event": {…}}                                      what `--events` prints
//!        ◀── {"journal": {"target": NAME, "number": N}}          an entry is on the disk of the target
//!        ◀── {"ended": {"target": NAME, "status": STATUS}}
//!        ◀── {"result": {"exit": CODE, "targets": […]}}          last
//! runner ──▶ {"kept": true}                                      the queue has it: the share has ended
//! ```
//!
//! A share that is refused, or stopped before it was compared, has no result: its exit code says why.
//!
//! Where standard input ends, the runner has died: this process stops as with TERM. So it does where a claim does
//! not hold any more: a runner that is paused cannot say so, and another one may have the share. A line of the runner that
//! makes no sense stops it too, and it exits with 70.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead as _, Read as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opal_session::stop::{Order, Stop};
use opal_vault::targets::TargetEnd;
use serde_json::{Value, json};
use signal_hook::consts::SIGTERM;

use super::lines::{MAX_LINE, Said, pieces, result, said};
use crate::clock::uptime;
use crate::failure::{Exit, Failure};
use crate::signals::{Interrupts, Watched};
use crate::view;

/// How long the claim of a runner holds that has said nothing yet, in milliseconds.
const LEASE: u64 = 20_000;

/// How often it is compared with the clock.
const LOOK: Duration = Duration::from_secs(1);

/// How often who waits asks whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// The queue runner at the other end.
pub(crate) struct ShareIo {
    out: Mutex<io::Stdout>,
    state: Mutex<State>,
    changed: Condvar,
    interrupts: Interrupts,
    /// What runs was asked to end.
    is_ending: AtomicBool,
    /// What the result says about the targets; none where nothing was about to run.
    rows: Mutex<Option<Value>>,
    /// What is done once the queue has the result.
    at_end: Mutex<Option<AtEnd>>,
}

/// It is called once.
type AtEnd = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    claims: Option<BTreeMap<String, u64>>,
    /// By target: whether it may start, or why not.
    answers: BTreeMap<String, Result<(), String>>,
    /// Until when the claim of the runner holds, in milliseconds of [`uptime`].
    held: u64,
    /// The queue has the result.
    is_kept: bool,
    /// Nothing more comes.
    is_over: bool,
    /// The runner has said what makes no sense.
    malformed: Option<&'static str>,
}

impl ShareIo {
    /// From now on the runner is heard, and signals end what runs in good order.
    pub(crate) fn begin() -> Result<Arc<Self>, Failure> {
        let watched = Watched::early()?;
        let io = Arc::new(Self {
            out: Mutex::new(io::stdout()),
            state: Mutex::new(State { held: uptime() + LEASE, ..State::default() }),
            changed: Condvar::new(),
            interrupts: watched.interrupts().clone(),
            is_ending: AtomicBool::new(false),
            rows: Mutex::default(),
            at_end: Mutex::default(),
        });
        let (heard, leased) = (Arc::clone(&io), Arc::clone(&io));
        for work in [Box::new(move || heard.listen()) as AtEnd, Box::new(move || leased.expire())] {
            let thread = std::thread::Builder::new().name("runner".to_owned());
            thread.spawn(work).map_err(|error| {
                let message = format!("no thread for the queue runner: {error}");
                Failure::new(Exit::Unavailable, message, "check the limits with `ulimit -a`")
            })?;
        }
        Ok(io)
    }

    /// Ends what runs where the claim does not hold any more.
    fn expire(&self) {
        loop {
            let mut state = self.lock();
            if state.is_over {
                return;
            }
            let left = state.held.saturating_sub(uptime());
            if left == 0 {
                state.is_over = true;
                drop(state);
                self.changed.notify_all();
                view::plan::note("the queue runner does not say that its claim still holds");
                self.end();
                return;
            }
            // The clock of a machine that sleeps goes on, and the one that is waited by does not.
            let most = Duration::from_millis(left).min(LOOK);
            drop(self.changed.wait_timeout(state, most));
        }
    }

    fn listen(&self) {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
            match read {
                // What came before the end without a line feed was cut off.
                Ok(_) if line.len() <= MAX_LINE && line.last() != Some(&b'\n') => break,
                Ok(_) => {}
                Err(_) => break,
            }
            let said = if line.len() > MAX_LINE { Err("a line is too long") } else { said(&line) };
            if let Err(why) = said.and_then(|said| self.hear(said)) {
                self.lock().malformed = Some(why);
                view::plan::note(&format!("the queue runner has sent what cannot be read: {why}"));
                break;
            }
        }
        self.lock().is_over = true;
        self.changed.notify_all();
        self.end();
    }

    /// Ends what runs in good order. Asking again would kill it, so this asks once, however often the runner
    /// turns out to be gone.
    fn end(&self) {
        if !self.is_ending.swap(true, Ordering::SeqCst) {
            self.interrupts.heard(SIGTERM);
        }
    }

    fn hear(&self, said: Said) -> Result<(), &'static str> {
        let mut state = self.lock();
        match said {
            Said::Claims(_) if state.claims.is_some() => return Err("claims came twice"),
            Said::Claims(claims) => state.claims = Some(claims),
            _ if state.claims.is_none() => return Err("the first line has no claims"),
            Said::Held(until) => state.held = until,
            Said::Kept => state.is_kept = true,
            Said::Start(target, answer) => _ = state.answers.insert(target, answer),
            Said::Stop(reason) => {
                drop(state);
                view::plan::note(&format!("the queue runner has stopped the share: {reason}"));
                self.end();
                return Ok(());
            }
        }
        self.changed.notify_all();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is known; none where nobody says it any more.
    fn wait<T>(&self, stop: Option<&Stop>, known: impl Fn(&State) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(known) = known(&state) {
                return Some(known);
            }
            if state.is_over || stop.is_some_and(|stop| stop.order() != Order::GoOn) {
                return None;
            }
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Asks the runner whether a target may start.
    pub(super) fn may_start(&self, target: &str, stop: &Stop) -> Result<(), String> {
        self.tell(&json!({"ask": "start", "target": target}));
        let answer = |state: &State| state.answers.get(target).cloned();
        self.wait(Some(stop), answer).unwrap_or_else(|| Err("the share was stopped".to_owned()))
    }

    /// The number of the last entry of a target that the runner knows of. Where it has not said so, no
    /// journal has as many.
    pub(super) fn claim(&self, target: &str) -> u64 {
        let claim = |state: &State| {
            let claims = state.claims.as_ref()?;
            Some(claims.get(target).copied().unwrap_or_default())
        };
        self.wait(None, claim).unwrap_or(u64::MAX)
    }

    pub(super) fn noted(&self, target: &str, number: u64) {
        self.tell(&json!({"journal": {"target": target, "number": number}}));
    }

    pub(super) fn ended(&self, target: &str, end: TargetEnd) {
        self.tell(&json!({"ended": {"target": target, "status": end.name()}}));
    }

    /// Keeps the rows of the targets for the result.
    pub(super) fn keep(&self, document: &[u8]) {
        let document = serde_json::from_slice::<Value>(document).unwrap_or_default();
        let rows = document.get("targets").cloned().unwrap_or_else(|| json!([]));
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = Some(rows);
    }

    /// The last line, where the share was run. It gives the exit code of this process.
    pub(crate) fn result(&self, exit: u8) -> u8 {
        let exit = if self.lock().malformed.is_some() { Exit::Bug.code() } else { exit };
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(rows) = rows else { return exit };
        let _ = self.write(&result(exit, &rows));
        let work = self.at_end.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = work
            && self.wait(None, |state| state.is_kept.then_some(())).is_some()
        {
            work();
        }
        exit
    }

    /// Does something once the queue has the result, and never where it may not have it.
    pub(super) fn at_end(&self, work: AtEnd) {
        *self.at_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
    }

    /// The events of the run.
    pub(crate) fn events(self: &Arc<Self>) -> Box<dyn Write + Send> {
        Box::new(Events(Arc::clone(self)))
    }

    fn tell(&self, what: &Value) {
        let _ = self.write(&what.to_string());
    }

    /// One line. Where nobody reads it, the runner has died.
    fn write(&self, line: &str) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let written = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
        written.inspect_err(|_| self.end())
    }
}

impl fmt::Debug for ShareIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShareIo")
    }
}

/// Puts each line of events into a line of the share.
struct Events(Arc<ShareIo>);

impl Write for Events {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let text = String::from_utf8_lossy(line);
            for event in pieces(&text) {
                self.0.write(&event)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
