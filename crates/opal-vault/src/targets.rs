//! How the targets of fleets ended.

use std::sync::Arc;
use std::time::Duration;

use crate::Shown;

/// The targets of one fleet, in the order of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetTable {
    /// Of the step that the fleet is.
    pub path: Box<str>,
    pub rows: Vec<TargetRow>,
}

/// How a target of a fleet ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetRow {
    /// Public: no secret can be a name. Resuming a run depends on it.
    pub name: Arc<str>,
    pub end: TargetEnd,
    /// The step that it ended at.
    pub step: Option<Shown<'static>>,
    /// The path of that step.
    pub path: Option<Box<str>>,
    pub code: Option<i32>,
    /// What opal itself has to say about it.
    pub message: Option<Shown<'static>>,
    /// What to do about it.
    pub help: Vec<Shown<'static>>,
    /// None where it did not start.
    pub took: Option<Duration>,
    /// It ended like this in the run that was resumed, and did not start again.
    pub is_earlier: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetEnd {
    Ok,
    Failed,
    /// Nothing ran on it.
    Unreachable,
    /// The connection was lost: what became of its last step is unknown.
    Lost,
    /// It had begun, and others were the reason to stop it.
    Stopped,
    Skipped,
}

impl TargetRow {
    /// One that has not started.
    #[must_use]
    pub fn skipped(name: Arc<str>) -> Self {
        Self {
            name,
            end: TargetEnd::Skipped,
            step: None,
            path: None,
            code: None,
            message: None,
            help: Vec::new(),
            took: None,
            is_earlier: false,
        }
    }

    /// The step that the target is continued at; none where it starts from the beginning.
    #[must_use]
    pub fn continued_at(&self) -> Option<&str> {
        self.path.as_deref().filter(|_| self.end != TargetEnd::Ok)
    }
}

impl TargetEnd {
    const ALL: [Self; 6] =
        [Self::Ok, Self::Failed, Self::Unreachable, Self::Lost, Self::Stopped, Self::Skipped];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Unreachable => "unreachable",
            Self::Lost => "lost",
            Self::Stopped => "stopped",
            Self::Skipped => "skipped",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|end| end.name() == name)
    }

    /// Whether it counts against `tolerate`.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Unreachable | Self::Lost)
    }
}
