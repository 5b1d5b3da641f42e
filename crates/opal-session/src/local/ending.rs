//! The end of a command that was asked to stop, with everything that it started.
//!
//! First each of its processes is asked, then, after the grace period, all are ended. They are held
//! before that, so that none can start another in between. What is there even then, because it is
//! another user's or because the system does not let go of it, is left, and reported.
//!
//! What a process starts after it was asked is not asked: that is how it cleans up.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use opal_core::action::Why;
use rustix::process::Signal;

use super::flow::Flow;
use super::processes::{Moment, Process, ignored, process, signal};
use super::waiting::Waiting;
use crate::stop::{Order, Stop};

/// How often to look for processes that were started during the previous search.
const MAX_LOOKS: usize = 16;

/// The time from look to look, while something is left.
const PAUSE: Duration = Duration::from_millis(10);

/// How long what has been killed may take to be gone.
const LAST: Duration = Duration::from_secs(2);

/// What a process ends with that was killed.
const KILLED: i32 = 137;

#[derive(Debug)]
pub(super) struct Ending {
    how: Signal,
    /// Whether it was interrupted, by us or by the terminal.
    is_interrupt: bool,
    /// Whether there may be some whom the terminal has not reached with that.
    passes_on: bool,
    /// When to ask: at once, unless the terminal has done so already.
    ask: Instant,
    kill: Instant,
    give_up: Instant,
    asked: Asked,
    is_over: bool,
}

/// Who has been asked, and who has not, because a process that had been asked has started it.
#[derive(Debug, Default)]
struct Asked {
    since: BTreeMap<i32, Moment>,
    spared: BTreeSet<i32>,
}

impl Asked {
    /// Asks those who have not been asked yet; `members` has parents first.
    fn ask(&mut self, members: &[i32], how: Signal) {
        for &pid in members {
            if self.since.contains_key(&pid) {
                continue;
            }
            if self.is_spared(pid) {
                self.spared.insert(pid);
                continue;
            }
            // Before it hears of it: what it starts then may be there at once.
            self.since.insert(pid, Moment::now());
            signal(pid, how);
            // One that is held would not hear it.
            signal(pid, Signal::CONT);
        }
    }

    /// Whether it is a part of how another one cleans up, which is still there.
    fn is_spared(&self, pid: i32) -> bool {
        let is_later = |it: &Process| {
            self.since.get(&it.parent).is_some_and(|since| since.is_before(it))
                || self.spared.contains(&it.parent)
        };
        process(pid).is_some_and(|it| is_later(&it))
    }
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
            // Nor does a terminal that has gone mean to end without saving: most die of a SIGHUP.
            _ => (Signal::TERM, Duration::ZERO),
        };
        let far = now + Duration::from_hours(24 * 365);
        let after = |duration| now.checked_add(duration).unwrap_or(far);
        let (kill, give_up) = (after(grace), after(grace.saturating_add(LAST)));
        let is_interrupt = why == Why::Signal(2);
        let passes_on = is_interrupt && shared;
        let ask = after(delay);
        Self { how, is_interrupt, passes_on, ask, kill, give_up, asked, is_over: false }
    }

    /// Whether nothing of the command is left.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn pause(&self) -> Duration {
        PAUSE
    }

    /// Does what is due; what the command ended with, where it had to be ended with its shell, or
    /// does not end at all.
    pub(super) fn advance(&mut self, flow: &mut Flow<'_>, now: Instant) -> Option<i32> {
        if now >= self.kill {
            kill(|| flow.scope().members());
            let mut shell = flow.lane.shell.take();
            let code = shell.as_mut().and_then(Waiting::end);
            let left = flow.scope().members();
            self.is_over = left.is_empty();
            if !self.is_over && now >= self.give_up {
                self.is_over = true;
                flow.report(&left);
                return code.or(Some(KILLED));
            }
            return code;
        }
        let members = flow.scope().members();
        if std::mem::take(&mut self.passes_on) {
            members.iter().filter_map(|pid| process(*pid)).for_each(pass_on);
        }
        if self.is_interrupt && members.iter().all(|pid| is_deaf(*pid)) {
            self.is_interrupt = false;
            (self.how, self.ask) = (Signal::TERM, now);
            self.asked = Asked::default();
        }
        if now >= self.ask {
            self.asked.ask(&members, self.how);
        }
        self.is_over = members.is_empty();
        None
    }
}

/// Interrupts a process that is not in front on its terminal, as one in a session of its own.
fn pass_on(process: Process) {
    if !process.is_in_front {
        signal(process.pid, Signal::INT);
    }
    signal(process.pid, Signal::CONT);
}

/// Whether an interrupt means nothing to a process, as to what a shell has started with `&`.
fn is_deaf(pid: i32) -> bool {
    const INTERRUPT: u64 = 1 << 1;
    ignored(pid) & INTERRUPT != 0
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

/// Ends everything that `look` finds: asks, waits, and then ends what is left, at once where it is
/// asked to.
pub(super) fn end(look: impl Fn() -> Vec<i32>, grace: Duration, stop: &Stop) {
    let (since, mut grace) = (Instant::now(), grace);
    let mut asked = Asked::default();
    loop {
        let members = look();
        asked.ask(&members, Signal::TERM);
        if stop.order() == Order::Kill {
            grace = grace.min(since.elapsed());
        }
        if members.is_empty() || since.elapsed() >= grace.saturating_add(LAST) {
            return;
        }
        if since.elapsed() >= grace {
            kill(&look);
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_ended_is_not_waited_for_for_ever() {
        // There is no process of this number, so no signal reaches it.
        end(|| vec![i32::MAX], Duration::ZERO, &Stop::new());
    }
}
