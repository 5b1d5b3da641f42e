//! What became of resources, for those that depend on them and for the end of the run.

use crate::spot::Spot;
use opal_core::action::{Halt, Why};
use opal_core::plan::Step;
use opal_core::resource::{Described, Status};

/// What became of a resource, for those that depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is in the desired state, or was applied, or that is unknown and its action succeeded.
    Met,
    Failed,
    /// A block around it timed out.
    TimedOut,
    /// It did not run, since something that it depends on has failed.
    LeftOut,
    /// It was not selected, and is missing or blocked.
    Unselected(Status),
}

impl Fate {
    pub(super) fn words(fate: Option<Self>) -> Option<&'static str> {
        match fate {
            Some(Self::Met) => None,
            Some(Self::Failed) => Some("failed"),
            Some(Self::TimedOut) => Some("timed out"),
            Some(Self::LeftOut) => Some("skipped"),
            Some(Self::Unselected(Status::Missing)) => Some("missing, not selected"),
            Some(Self::Unselected(_)) => Some("blocked, not selected"),
            None => Some("not run"),
        }
    }
}

/// How a step ended, for those that depend on it.
pub(super) fn fate(result: &Result<(), Halt>) -> Option<Fate> {
    match result {
        Ok(()) => Some(Fate::Met),
        Err(Halt::Failed(_)) => Some(Fate::Failed),
        Err(Halt::Stopped(Why::TimedOut)) => Some(Fate::TimedOut),
        Err(Halt::Stopped(_) | Halt::Unrecorded) => None,
    }
}

/// A resource that was in the desired state when its turn was over.
#[derive(Debug)]
pub(super) struct Kept<'p> {
    pub(super) step: &'p Step,
    pub(super) described: Described,
    pub(super) spot: Spot,
    /// How much had been changed when it was seen.
    pub(super) seen: u64,
    /// Whether the run has brought it about.
    pub(super) is_made: bool,
}
