//! The steps of a blueprint: their order, and what becomes of each.

use opal_modules::Step;

/// The steps, each after what it requires; as in the file, where that is possible.
#[must_use]
pub fn order(steps: &[Step]) -> Vec<&Step> {
    let mut done: Vec<&Step> = Vec::with_capacity(steps.len());
    while done.len() < steps.len() {
        let is_done = |id: &String| done.iter().any(|step| step.id == *id);
        let next =
            steps.iter().find(|step| !is_done(&step.id) && step.requires.iter().all(is_done));
        // There are no cycles in a blueprint that was read.
        let Some(next) = next else { break };
        done.push(next);
    }
    done
}

/// What would become of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Run {
        tools: Vec<String>,
    },
    /// It has been applied, and that is enough.
    Skip,
    /// It cannot be planned before others have run, or not at all: why.
    Open(String),
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Ok,
    Skipped,
    /// It has looked, and something is not as wanted.
    Differs,
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// Another has failed before it.
    NotRun,
}

impl Done {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped reason=state-ok",
            Self::Differs => "drifted",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotRun => "not run",
        }
    }
}
