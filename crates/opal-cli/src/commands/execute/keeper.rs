//! Somebody besides the record who keeps what happens in a run, and knows better how it ended.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use opal_core::plan::Plan;
use opal_core::stream::{Closed, Stream};
use opal_exec::execute::Outcome;
use opal_vault::Shown;
use opal_vault::Vault;
use opal_vault::event::{Event, Status};
use opal_vault::witness::{Audience, Progress, Recorder};
use serde_json::Value;

use crate::failure::Failure;

pub(crate) trait Keeper: std::fmt::Debug {
    /// What hides the values of the run, with those that only this one knows.
    fn vault(&self) -> &Vault;

    /// Before anything else is kept: who is told from now on.
    fn begin(&self, plan: &Plan) -> Result<&dyn Recorder, Failure>;

    /// Right before the first step: what is done from now on counts.
    fn set_off(&self) -> Result<(), Failure>;

    /// Nothing is run after all, and why.
    fn abandon(&self, why: &str);

    /// After the last step.
    fn end(&self, outcome: &Outcome, ending: RunEnd) -> Result<Last, Failure>;
}

/// A run that somebody keeps goes on, though nobody may watch it any more: what its tools print is
/// still taken.
pub(super) struct Unmoved<'a>(pub(super) &'a dyn Audience);

impl Audience for Unmoved<'_> {
    fn event(&self, event: &Event<'_>) {
        self.0.event(event);
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Closed> {
        let _ = self.0.output(number, stream, bytes);
        Ok(())
    }

    fn has_terminal(&self, number: u64) {
        self.0.has_terminal(number);
    }

    fn sends(&self, path: &str, sent: &Arc<AtomicU64>) {
        self.0.sends(path, sent);
    }

    fn progress(&self, progress: &Progress<'_>) {
        self.0.progress(progress);
    }
}

/// How a run has ended, as its steps say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunEnd {
    pub(crate) status: Status,
    pub(crate) code: i32,
}

/// The last word on a run.
#[derive(Debug)]
pub(crate) struct Last {
    pub(crate) end: RunEnd,
    /// For programs.
    pub(crate) document: Value,
    /// The same, to be printed; none where somebody has taken it.
    pub(crate) json: Option<Value>,
    /// For people.
    pub(crate) text: String,
}
