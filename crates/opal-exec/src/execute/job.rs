//! A run from outside: what it is given, and how it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use opal_core::action::{BranchOutput, Failure, Halt};
use opal_core::plan::{Key, Plan, Step};
use opal_core::resolver::Trouble;
use opal_core::unreached::Unreached;
use opal_core::{Data, Registry, Showing};
use opal_session::Session;
use opal_session::stop::Stop;
use opal_session::targets::Reach;
use opal_vault::event::{Counts, Opened};
use opal_vault::targets::FleetTable;
use opal_vault::trace::Trace;
use opal_vault::witness::{Audience, Recorder};
use opal_vault::{Shown, Vault};

use super::fencing::Fencing;
use crate::verify::survey::Report;

/// A plan to be run, and all that takes part in it.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub plan: &'a Plan,
    /// By the keys of [`Plan::values`].
    pub values: &'a BTreeMap<Key, Data>,
    /// Who may see which of them.
    pub showing: &'a Showing,
    pub registry: &'a Registry,
    pub session: &'a dyn Session,
    /// Opens sessions on targets; none where there can be none.
    pub reach: Option<&'a dyn Reach>,
    /// Where the first step is: absolute.
    pub start: &'a Path,
    /// Where relative paths of resources begin: the directory of the source. Absolute.
    pub base: &'a Path,
    /// Knows every value of the plan: see [`register`](super::register).
    pub vault: &'a Vault,
    pub recorder: &'a dyn Recorder,
    pub audience: &'a dyn Audience,
    pub stop: &'a Stop,
    /// The most branches at work at a time, over the whole run.
    pub jobs: Option<usize>,
    /// How parallel branches are shown.
    pub output: ShownBranches,
    /// The path of the first step to run; those before it are skipped.
    pub from: Option<&'a str>,
    /// How the targets of fleets ended in the run that is resumed.
    pub earlier: &'a [FleetTable],
    /// The targets that the plan has no values of.
    pub unreached: &'a Unreached,
    /// The paths of the resources that were selected; the other steps are skipped. None for all.
    pub selected: Option<&'a BTreeSet<Box<str>>>,
    /// The verification of all resources before the run: what was satisfied then is not verified
    /// again, as long as nothing has been changed.
    pub known: Option<&'a Report>,
    /// Whether the steps say together what is to be at the end, as those of a configuration do,
    /// instead of one after the other what is to be done.
    pub is_declared: bool,
    /// Whether a contract says what runs.
    pub is_under_contract: bool,
    /// The ids of the spans that steps run in, where steps get them.
    pub trace: Option<&'a Trace>,
    /// What keeps the targets of an order from two runners.
    pub fence: Option<&'a dyn Fencing>,
    /// Whether steps may read what opal itself reads.
    pub stdin: bool,
    pub clock: fn() -> SystemTime,
}

/// How the output of parallel branches is shown.
#[derive(Clone, Copy, Debug)]
pub struct ShownBranches {
    /// Whatever the source says.
    pub asked: Option<BranchOutput>,
    /// Where neither the caller nor the source says anything.
    pub usual: BranchOutput,
}

impl ShownBranches {
    /// One branch after the other, unless the source says otherwise.
    pub const GROUPED: Self = Self { asked: None, usual: BranchOutput::Grouped };

    pub(super) fn of_block(self, output: Option<BranchOutput>) -> BranchOutput {
        self.asked.or(output).unwrap_or(self.usual)
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it did not go to its end.
    pub halt: Option<Halt>,
    pub steps: Counts,
    /// How the targets of its fleets ended, in the order of the plan.
    pub fleets: Vec<FleetTable>,
    /// The step that the run failed with, or that was running when it timed out.
    pub failed: Option<FailedStep>,
    /// Steps that failed as well, in other branches or while cleaning up, in the order of the plan.
    pub beside: Vec<FailedStep>,
    /// How many more of those there were.
    pub more: usize,
    /// The names of the steps that were at work when the time of the run was over.
    pub late: Vec<Box<str>>,
    /// Whether `finally` blocks ran because the run was asked to stop.
    pub cleaned_up: bool,
    /// Whether every step went well, and what some had described was no longer so at the end.
    pub is_undone: bool,
    /// The keys of values that were hidden in what it showed, though nobody declared them secret.
    pub hidden: Vec<Box<str>>,
    /// What decorators of packages opened and did not close.
    pub unclosed: Vec<Opened>,
}

#[derive(Clone, Debug)]
pub struct FailedStep {
    pub path: String,
    /// As in its events; none where it failed before it started.
    pub number: Option<u64>,
    pub attempt: u32,
    pub code: i32,
    /// The step as the plan shows it.
    pub text: Shown<'static>,
    /// What opal itself has to say about it. Holds no value.
    pub trouble: Option<Trouble>,
}

impl FailedStep {
    pub(super) fn is_of(&self, failure: &Failure) -> bool {
        (self.code, &self.trouble) == (failure.code, &failure.trouble)
    }
}

impl Job<'_> {
    /// Whether a step is left out.
    pub(super) fn passes_over(&self, step: &Step) -> bool {
        step.is_leaf() && self.selected.is_some_and(|selected| !selected.contains(&step.path))
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("target", &self.plan.target)
            .field("start", &self.start)
            .field("jobs", &self.jobs)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
