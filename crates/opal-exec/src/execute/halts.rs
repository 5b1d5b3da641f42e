//! How a step ends that cannot go on: exit codes, and the failures that every step may have.

use opal_core::action::{Failure, Halt, Why};
use opal_core::plan::Step;
use opal_core::resolver::Trouble;
use opal_session::stop::{Order, Stop};

use crate::error::{Bug, StepError};

/// What a bug of opal's own ends with.
pub(super) const BUG: i32 = 70;

/// What ends with the time of its block ends with this.
pub(super) const TIMED_OUT: i32 = 124;

/// What cannot be reached, or does not answer, ends a step with.
pub(super) const UNAVAILABLE: i32 = 69;

/// What a file that cannot be written ends a step with.
pub(super) const NOT_WRITTEN: i32 = 74;

/// Whether work may start.
pub(super) fn go_on(stop: &Stop) -> Result<(), Halt> {
    match stop.order() {
        Order::GoOn => Ok(()),
        Order::End { why, .. } => Err(Halt::Stopped(why)),
        // The order to kill comes from a second signal.
        Order::Kill => Err(Halt::Stopped(stop.why().unwrap_or(Why::Signal(9)))),
    }
}

pub(super) fn failed(step: &Step, code: i32, trouble: impl Into<Trouble>) -> Halt {
    Halt::Failed(Box::new(Failure::new(step.path.clone(), code, Some(trouble.into()))))
}

/// What could not be done with a descriptor or a thread.
pub(super) fn unable(step: &Step, error: &std::io::Error) -> Halt {
    failed(step, 1, StepError::NotConnected(error.kind()))
}

/// Something that the planner or `prepare` should have seen.
pub(super) fn bug(step: &Step, bug: Bug<'_>) -> Halt {
    failed(step, BUG, StepError::Bug(bug))
}
