//! What the steps of a run came to: each counted once, however often it was tried.

use std::collections::BTreeMap;
use std::ops::Bound;

use opal_core::action::{Failure, MAX_BESIDE};
use opal_core::gather;
use opal_vault::event::{Counts, End};

use super::halts::TIMED_OUT;
use super::job::FailedStep;

#[derive(Debug, Default)]
pub(super) struct Tally<'p> {
    /// By path: how each step ended last.
    ends: BTreeMap<&'p str, Ended>,
    skipped: u64,
    retries: u64,
    /// By the paths of fleets: what their steps came to, over all targets.
    fleets: BTreeMap<&'p str, OfFleet>,
    /// By path: the last failure of each step.
    pub(super) failed: BTreeMap<Box<str>, FailedStep>,
    /// By path: steps that timed out, until the step whose limit it was reports them.
    pub(super) late: BTreeMap<Box<str>, Late>,
    /// By the path of the step whose limit it was: the first step in it that timed out.
    pub(super) blamed: BTreeMap<Box<str>, FailedStep>,
}

/// The steps of a fleet.
#[derive(Clone, Copy, Debug, Default)]
struct OfFleet {
    counts: Counts,
    /// Whether what failed there counts as caught.
    is_caught: bool,
}

/// A step that timed out.
#[derive(Debug)]
pub(super) struct Late {
    pub(super) name: Box<str>,
    pub(super) step: FailedStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done,
    Satisfied,
    Failed,
    Caught,
    Stopped,
}

impl<'p> Tally<'p> {
    pub(super) fn ended(&mut self, path: &'p str, end: End) {
        let ended = match end {
            End::Done => Ended::Done,
            End::Satisfied => Ended::Satisfied,
            End::Failed | End::TimedOut => Ended::Failed,
            End::Stopped => Ended::Stopped,
        };
        self.ends.insert(path, ended);
    }

    pub(super) fn skipped(&mut self) {
        self.skipped += 1;
    }

    /// The steps of a target of the fleet at this path. Failures that the fleet tolerates count as
    /// caught.
    pub(super) fn add(&mut self, path: &'p str, of_target: Counts, is_tolerated: bool) {
        let fleet = self.fleets.entry(path).or_default();
        fleet.counts += of_target;
        fleet.is_caught = is_tolerated;
    }

    /// A step that had ended well has failed after all.
    pub(super) fn undone(&mut self, path: &'p str) {
        self.ends.insert(path, Ended::Failed);
    }

    /// The block of the `@retry` at this path begins again: its last attempt does not count.
    pub(super) fn try_again(&mut self, path: &str) {
        self.retries += 1;
        let inside: Vec<&str> = self.inside(path).map(|(path, _)| path).collect();
        for path in inside {
            self.ends.remove(path);
        }
        self.fleets.retain(|fleet, _| !is_at_or_in(fleet, path));
    }

    /// A block that failed by itself counts where nothing in it has.
    pub(super) fn block_failed(&mut self, path: &'p str, end: End) {
        let has_failed = |(fleet, of): (&&str, &OfFleet)| {
            of.counts.failed > 0 && !of.is_caught && is_at_or_in(fleet, path)
        };
        let is_of_step = self.inside(path).any(|(_, ended)| ended == Ended::Failed);
        if !is_of_step && !self.fleets.iter().any(has_failed) {
            self.ended(path, end);
        }
    }

    /// A failure that was caught ends what is around it after all.
    pub(super) fn rethrown(&mut self, failure: &Failure) {
        for failure in std::iter::once(failure).chain(&failure.beside) {
            if let Some(ended) = self.ends.get_mut(&*failure.path)
                && *ended == Ended::Caught
            {
                *ended = Ended::Failed;
            }
            if let Some(fleet) = self.fleets.get_mut(&*failure.path) {
                fleet.is_caught = false;
            }
        }
    }

    /// Something takes every failure so far inside of the construct at this path.
    pub(super) fn caught(&mut self, path: &str) {
        let failed = self.inside(path).filter(|(_, ended)| *ended == Ended::Failed);
        let failed: Vec<&str> = failed.map(|(path, _)| path).collect();
        for path in failed {
            self.ends.insert(path, Ended::Caught);
        }
        let fleets = self.fleets.iter_mut().filter(|(fleet, _)| is_at_or_in(fleet, path));
        fleets.for_each(|(_, fleet)| fleet.is_caught = true);
    }

    /// The step to know about where the time of a block was over: the first that took too long.
    pub(super) fn blamed(&self, failure: &Failure) -> Option<&FailedStep> {
        self.blamed.get(&failure.path).filter(|_| failure.code == TIMED_OUT)
    }

    /// The failures that nothing has caught, in the order in which the steps started, and how many
    /// more there were than are kept.
    pub(super) fn uncaught(&self) -> (Vec<FailedStep>, usize) {
        let is_uncaught = |step: &&FailedStep| self.ends.get(&*step.path) == Some(&Ended::Failed);
        let mut failed: Vec<FailedStep> =
            self.failed.values().filter(is_uncaught).cloned().collect();
        gather::sort_by_key(&mut failed, |step| step.number);
        let more = failed.len().saturating_sub(MAX_BESIDE);
        failed.truncate(MAX_BESIDE);
        (failed, more)
    }

    /// A step that was stopped.
    pub(super) fn stopped(&self) -> Option<&'p str> {
        self.ends.iter().find(|(_, ended)| **ended == Ended::Stopped).map(|(path, _)| *path)
    }

    /// The steps inside of the step at this path.
    fn inside(&self, path: &str) -> impl Iterator<Item = (&'p str, Ended)> {
        let start = format!("{path}.");
        let from = self.ends.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        let inside: Vec<_> = from
            .take_while(|(path, _)| path.starts_with(&start))
            .map(|(path, ended)| (*path, *ended))
            .collect();
        inside.into_iter()
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for OfFleet { counts: mut of_fleet, is_caught } in self.fleets.values().copied() {
            if is_caught {
                of_fleet.caught += std::mem::take(&mut of_fleet.failed);
            }
            counts += of_fleet;
        }
        counts.skipped += self.skipped;
        counts.retries += self.retries;
        for ended in self.ends.values() {
            *match ended {
                Ended::Done => &mut counts.done,
                Ended::Satisfied => &mut counts.satisfied,
                Ended::Failed => &mut counts.failed,
                Ended::Caught => &mut counts.caught,
                Ended::Stopped => &mut counts.stopped,
            } += 1;
        }
        counts
    }
}

fn is_at_or_in(path: &str, around: &str) -> bool {
    path.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(tally: &Tally<'_>) -> [u64; 4] {
        let Counts { done, failed, caught, retries, .. } = tally.counts();
        [done, failed, caught, retries]
    }

    #[test]
    fn a_step_counts_once_however_often_it_was_tried() {
        let mut tally = Tally::default();
        for attempt in 1..=3 {
            if attempt > 1 {
                tally.try_again("a.retry[0]");
            }
            tally.ended("a.retry[0].shell[0]", End::Done);
            let end = if attempt < 3 { End::Failed } else { End::Done };
            tally.ended("a.retry[0].shell[1]", end);
        }
        assert_eq!(counts(&tally), [2, 0, 0, 2]);
    }

    #[test]
    fn what_failed_in_an_earlier_attempt_is_forgotten_and_nothing_beside_it() {
        let mut tally = Tally::default();
        tally.ended("a.retry[0].shell[1]", End::Failed);
        tally.ended("a.retry[01].shell[0]", End::Failed);
        tally.ended("a.retry[1].shell[0]", End::Failed);
        tally.try_again("a.retry[0]");
        tally.ended("a.retry[0].shell[0]", End::Failed);
        assert_eq!(counts(&tally), [0, 3, 0, 1]);
    }

    #[test]
    fn what_a_catch_throws_again_was_not_caught() {
        let mut tally = Tally::default();
        tally.ended("a.try[0].shell[0]", End::Failed);
        tally.caught("a.try[0]");
        tally.ended("a.try[0].catch.shell[0]", End::Failed);
        assert_eq!(counts(&tally), [0, 1, 1, 0]);
        tally.rethrown(&Failure::new("a.try[0].shell[0]".into(), 1, None));
        assert_eq!(counts(&tally), [0, 2, 0, 0]);
    }

    #[test]
    fn a_block_that_fails_counts_once_and_not_besides_what_failed_in_it() {
        let mut tally = Tally::default();
        tally.block_failed("a.workdir[0]", End::Failed);
        tally.ended("a.timeout[1].shell[0]", End::TimedOut);
        tally.block_failed("a.timeout[1]", End::TimedOut);
        assert_eq!(counts(&tally), [0, 2, 0, 0]);
    }

    #[test]
    fn the_steps_of_a_fleet_count_instead_of_the_fleet() {
        let one = |failed| Counts { done: 1, failed, ..Counts::default() };
        let mut tally = Tally::default();
        let fleet = "a.try[0].retry[0].ssh.hosts[0]";
        tally.add(fleet, one(1), false);
        tally.block_failed(fleet, End::Failed);
        assert_eq!(counts(&tally), [1, 1, 0, 0]);
        tally.try_again("a.try[0].retry[0]");
        tally.add(fleet, one(0), false);
        tally.add(fleet, one(1), false);
        tally.block_failed(fleet, End::Failed);
        assert_eq!(counts(&tally), [2, 1, 0, 1]);
        tally.caught("a.try[0]");
        assert_eq!(counts(&tally), [2, 0, 1, 1]);
        tally.rethrown(&Failure::new(fleet.into(), 1, None));
        assert_eq!(counts(&tally), [2, 1, 0, 1]);
        // Nothing ran on its targets.
        tally.block_failed("a.ssh.hosts[1]", End::Failed);
        assert_eq!(counts(&tally), [2, 2, 0, 1]);
    }

    #[test]
    fn only_failures_inside_of_what_dealt_with_them_are_caught() {
        let mut tally = Tally::default();
        tally.ended("a.try[0].shell[0]", End::Done);
        tally.ended("a.try[0].parallel[0].shell[1]", End::Failed);
        tally.ended("a.try[1].shell[0]", End::Failed);
        tally.caught("a.try[0]");
        assert_eq!(counts(&tally), [1, 1, 1, 0]);
    }
}
