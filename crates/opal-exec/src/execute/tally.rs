//! What the steps of a run came to: each counted once, however often it was tried.

use std::collections::BTreeMap;
use std::ops::Bound;

use opal_core::action::{Failure, MAX_BESIDE};
use opal_vault::event::{Counts, End};

use super::halts::TIMED_OUT;
use super::job::FailedStep;

#[derive(Debug, Default)]
pub(super) struct Tally<'p> {
    /// By path: how each step ended last.
    ends: BTreeMap<&'p str, Ended>,
    skipped: u64,
    retries: u64,
    /// Of the steps of fleets, over all targets.
    fleets: Counts,
    /// By path: the last failure of each step.
    pub(super) failed: BTreeMap<Box<str>, FailedStep>,
    /// By path: steps that timed out, until the step whose limit it was reports them.
    pub(super) late: BTreeMap<Box<str>, Late>,
    /// By the path of the step whose limit it was: the first step in it that timed out.
    pub(super) blamed: BTreeMap<Box<str>, FailedStep>,
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

    /// The steps of a target of a fleet. Failures that the fleet tolerates count as caught.
    pub(super) fn add(&mut self, of_target: Counts, is_tolerated: bool) {
        let Counts { done, satisfied, failed, caught, stopped, skipped, retries } = of_target;
        let (failed, caught) = if is_tolerated { (0, caught + failed) } else { (failed, caught) };
        let fleets = &mut self.fleets;
        fleets.done += done;
        fleets.satisfied += satisfied;
        fleets.failed += failed;
        fleets.caught += caught;
        fleets.stopped += stopped;
        fleets.skipped += skipped;
        fleets.retries += retries;
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
    }

    /// A block that failed by itself counts where nothing in it has.
    pub(super) fn block_failed(&mut self, path: &'p str, end: End) {
        if !self.inside(path).any(|(_, ended)| ended == Ended::Failed) {
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
        }
    }

    /// Something takes every failure so far inside of the construct at this path.
    pub(super) fn caught(&mut self, path: &str) {
        let failed = self.inside(path).filter(|(_, ended)| *ended == Ended::Failed);
        let failed: Vec<&str> = failed.map(|(path, _)| path).collect();
        for path in failed {
            self.ends.insert(path, Ended::Caught);
        }
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
        failed.sort_by_key(|step| step.number);
        let more = failed.len().saturating_sub(MAX_BESIDE);
        failed.truncate(MAX_BESIDE);
        (failed, more)
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
        let mut counts = self.fleets;
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
    fn only_failures_inside_of_what_dealt_with_them_are_caught() {
        let mut tally = Tally::default();
        tally.ended("a.try[0].shell[0]", End::Done);
        tally.ended("a.try[0].parallel[0].shell[1]", End::Failed);
        tally.ended("a.try[1].shell[0]", End::Failed);
        tally.caught("a.try[0]");
        assert_eq!(counts(&tally), [1, 1, 1, 0]);
    }
}
