//! What a run notes about its steps.

use std::collections::BTreeMap;
use std::sync::Mutex;

use opal_core::action::Failure;
use opal_vault::event::LateStep;

use super::fates::Fate;
use super::job::FailedStep;
use super::places::Alone;
use super::tally::{Late, Tally};
use crate::threads::lock;

/// What is noted by the paths of steps: once for the run, and once for each target of a fleet, on
/// which steps have the same paths.
#[derive(Debug, Default)]
pub(super) struct Ledger<'p> {
    pub(super) tally: Mutex<Tally<'p>>,
    /// What became of resources, by their ids.
    pub(super) fates: Mutex<BTreeMap<&'p str, Fate>>,
    /// Who changes what the machine has one of.
    pub(super) alone: Alone,
}

impl Ledger<'_> {
    /// The step that was stopped where a block timed out.
    pub(super) fn late_in(&self, failure: &Failure) -> Option<LateStep> {
        let tally = lock(&self.tally);
        let FailedStep { number, path, .. } = tally.blamed(failure)?;
        Some(LateStep { number: *number, path: path.as_str().into() })
    }

    /// The steps that ran out of time inside of `around`, or anywhere; each is reported once.
    pub(super) fn late(&self, around: &str) -> Vec<Late> {
        let is_inside = |path: &str| {
            around.is_empty() || path.strip_prefix(around).is_some_and(|rest| rest.starts_with('.'))
        };
        let late = &mut lock(&self.tally).late;
        late.extract_if(.., |path, _| is_inside(path)).map(|(_, late)| late).collect()
    }
}
