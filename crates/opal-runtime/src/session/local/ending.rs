//! The end of a command that was told to stop, with everything that it started.
//!
//! First each of its processes is asked, then, after the grace period, all are ended. They are held
//! before that, so that none can start another in between.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use opal_core::action::Why;
use rustix::process::Signal;

use super::flow::Flow;
use super::processes::signal;
use crate::stop::Order;

/// How often to look for processes that were started during the look before.
const MAX_LOOKS: usize = 16;

/// The time from look to look, while something is left.
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(super) struct Ending {
    how: Signal,
    /// When to ask: at once, unless the terminal has done so already.
    ask: Instant,
    kill: Instant,
    asked: BTreeSet<i32>,
    is_over: bool,
}

impl Ending {
    /// What an order means for a command; `shared` is whether the terminal signals it together with
    /// opal.
    pub(super) fn heed(before: Option<Self>, order: Order, shared: bool, now: Instant) -> Self {
        let (why, grace) = match order {
            Order::End { why, grace } => (why, grace),
            Order::GoOn | Order::Kill => (Why::Cancelled, Duration::ZERO),
        };
        let asked = before.map(|it| it.asked).unwrap_or_default();
        let (how, delay) = match why {
            // A second interrupt would mean to many programs not to clean up.
            Why::Signal(2) if shared => (Signal::TERM, grace / 2),
            Why::Signal(2) => (Signal::INT, Duration::ZERO),
            Why::Signal(1) => (Signal::HUP, Duration::ZERO),
            _ => (Signal::TERM, Duration::ZERO),
        };
        let far = now + Duration::from_hours(24 * 365);
        let after = |duration| now.checked_add(duration).unwrap_or(far);
        Self { how, ask: after(delay), kill: after(grace), asked, is_over: false }
    }

    /// Whether nothing of the command is left.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn pause(&self) -> Duration {
        PAUSE
    }

    /// Does what is due; what the shell ended with, where it had to be ended too.
    pub(super) fn advance(&mut self, flow: &mut Flow<'_>, now: Instant) -> Option<i32> {
        if now >= self.kill {
            kill(|| flow.scope().members());
            let mut shell = flow.lane.shell.take();
            let code = shell.as_mut().and_then(|shell| {
                signal(shell.running.pid(), Signal::KILL);
                shell.running.wait().ok()
            });
            self.is_over = flow.scope().members().is_empty();
            return code;
        }
        let members = flow.scope().members();
        if now >= self.ask {
            for pid in members.iter().filter(|pid| self.asked.insert(**pid)) {
                signal(*pid, self.how);
                // One that is held would not hear it.
                signal(*pid, Signal::CONT);
            }
        }
        self.is_over = members.is_empty();
        None
    }
}

fn kill(look: impl Fn() -> Vec<i32>) {
    let mut members = look();
    for _ in 0..MAX_LOOKS {
        members.iter().for_each(|pid| signal(*pid, Signal::STOP));
        let again = look();
        let is_same = again.iter().all(|pid| members.contains(pid));
        members = again;
        if is_same {
            break;
        }
    }
    members.iter().for_each(|pid| signal(*pid, Signal::KILL));
}

/// Ends everything that `look` finds: asks, waits, and then ends what is left.
pub(super) fn end(look: impl Fn() -> Vec<i32>, grace: Duration) {
    let until = Instant::now().checked_add(grace);
    let mut asked = BTreeSet::new();
    loop {
        let members = look();
        for pid in members.iter().filter(|pid| asked.insert(**pid)) {
            signal(*pid, Signal::TERM);
            signal(*pid, Signal::CONT);
        }
        if members.is_empty() {
            return;
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            kill(&look);
        }
        std::thread::sleep(PAUSE);
    }
}
