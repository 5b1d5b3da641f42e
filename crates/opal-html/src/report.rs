//! What a report is made of.

use std::time::{Duration, SystemTime};

use opal_core::resource::Status;
use opal_vault::targets::{FleetTable, TargetRow};

use crate::printed::Printed;

/// A run, or a verification.
#[derive(Clone, Debug)]
pub struct Report {
    /// The target of the run, or the file that was verified.
    pub name: String,
    /// `failed`, or `2 resources differ`.
    pub status: String,
    pub is_good: bool,
    /// What it came to, in one line: `3 steps done, 1 failed in 2.3s`.
    pub summary: String,
    /// Why it failed, where no case says so.
    pub trouble: Option<String>,
    pub at: SystemTime,
    pub took: Duration,
    pub host: Option<String>,
    /// Names and texts, in the order of reading.
    pub facts: Vec<(&'static str, String)>,
    /// How the targets of its fleets ended.
    pub fleets: Vec<FleetTable>,
    pub cases: Vec<Case>,
    /// The plan as a tree.
    pub plan: Option<String>,
}

/// A leaf step, or a resource that was verified.
#[derive(Clone, Debug)]
pub struct Case {
    /// With the target unique in its report.
    pub path: Box<str>,
    /// The target that it ran on; none on opal's machine.
    pub target: Option<String>,
    /// The step as the plan shows it, or what the resource is about.
    pub text: String,
    /// Where it is: a file, and a line from 1.
    pub place: Option<(String, u32)>,
    pub outcome: Outcome,
    /// In one word: `done`, `satisfied`, `timed_out`, `drifted`.
    pub status: &'static str,
    /// What opal has to say about it.
    pub message: Option<String>,
    /// Its attempts; none where it did not start.
    pub spans: Vec<Span>,
    /// What it printed, in its last attempt.
    pub printed: Printed,
    /// What its verifications found, where it describes a state.
    pub checks: Vec<Check>,
    /// The path of the parallel branch that it ran in.
    pub lane: Option<Box<str>>,
}

/// What a verification of a resource found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub status: Status,
    pub message: String,
    /// What differs from its description, line by line.
    pub details: Option<String>,
}

/// What it means for whoever reads the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// It failed by itself.
    Failed,
    /// Something around it was in the way.
    Error,
    Skipped,
}

/// An attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// After the start of the run.
    pub start: Duration,
    pub took: Duration,
    pub is_good: bool,
}

impl Case {
    /// Of all attempts.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.spans.iter().map(|span| span.took).sum()
    }

    /// The step, after the target that it ran on.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.target {
            Some(target) => format!("{target}: {}", self.text),
            None => self.text.clone(),
        }
    }

    /// What differs from its description, line by line, as the first verification found it.
    pub(crate) fn details(&self) -> Option<&str> {
        self.checks.iter().find_map(|check| check.details.as_deref())
    }

    #[must_use]
    pub fn is_bad(&self) -> bool {
        matches!(self.outcome, Outcome::Failed | Outcome::Error)
    }
}

/// The step that a target ended at; of one that was not reached, why.
pub(crate) fn target_step(row: &TargetRow) -> Option<String> {
    row.step.as_ref().or(row.message.as_ref()).map(|shown| shown.text().into_owned())
}

impl Report {
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }
}
