//! Which run `--resume` means, and the step at which it continues.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use opal_core::contract::plan_hash;
use opal_core::hash::Digest;
use opal_core::plan::Plan;
use opal_exec::execute::{can_begin, can_continue, continued, together};
use opal_plan::plan::Resolved;
use opal_vault::event::Status;
use opal_vault::record::RunId;
use opal_vault::record::failed_path;
use opal_vault::record::reader::{self, Found, Run, State, Unclear, Unreadable};
use opal_vault::root::{Root, RootError};
use opal_vault::targets::FleetTable;

/// The run that was asked for.
#[derive(Clone, Copy, Debug)]
pub enum Which<'w> {
    Last,
    /// By its id, or the beginning of one.
    Named(&'w str),
}

/// Whose runs count: those of a task in one checkout.
#[derive(Clone, Debug)]
pub struct Whose<'w> {
    pub target: &'w str,
    /// As a record names it today, and as it is: what is hidden in it changes with the source.
    pub directory: [String; 2],
    /// What a record has beside a name that its run has captured as a value.
    pub place: Option<Digest>,
    /// Only runs of this contract: it is single-use, and they are its one use.
    pub contract: Option<Digest>,
}

/// Why no run can be continued. It holds no value.
#[derive(Debug)]
pub enum NotResumed {
    Root(RootError),
    Unclear { name: String, why: Unclear },
    Unreadable(Unreadable),
    NoEarlierRun { target: String },
    OtherContract(RunId),
    StillRunning(RunId),
    NoFailedStep(RunId),
    OtherPlan(RunId),
}

impl fmt::Display for NotResumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(error) => error.fmt(f),
            Self::Unclear { name, .. } => write!(f, "unknown run `{name}`"),
            Self::Unreadable(error) => error.fmt(f),
            Self::NoEarlierRun { target } => {
                write!(f, "no earlier run of `{target}` in this directory")
            }
            Self::OtherContract(id) => write!(f, "`{id}` is not a run of this contract"),
            Self::StillRunning(id) => write!(f, "`{id}` is still running"),
            Self::NoFailedStep(id) => {
                write!(f, "`{id}` did not fail at a step, so it cannot be resumed")
            }
            Self::OtherPlan(id) => write!(f, "the plan of `{id}` is not the current plan"),
        }
    }
}

impl Whose<'_> {
    fn is_of(&self, run: &Run) -> bool {
        let is_named = |named| self.directory.iter().any(|here| here == named);
        let place = self.place.map(|place| place.hex());
        let is_same = |named| place.as_deref() == Some(named);
        run.target() == self.target
            && (run.text("directory").is_some_and(is_named)
                || run.text("place").is_some_and(is_same))
            && self.is_under(run)
    }

    fn is_under(&self, run: &Run) -> bool {
        self.contract.is_none_or(|contract| run.contract() == Some(contract))
    }
}

/// The run that is meant.
pub fn earlier(
    root: &Root,
    which: Which<'_>,
    whose: &Whose<'_>,
    plan: &Plan,
) -> Result<Run, NotResumed> {
    let runs = reader::list(root).map_err(NotResumed::Root)?;
    let name = match which {
        Which::Named(name) => name,
        Which::Last => {
            let none = || NotResumed::NoEarlierRun { target: whose.target.to_owned() };
            return newest(&runs, whose, plan).ok_or_else(none);
        }
    };
    let found = reader::find(&runs, name)
        .map_err(|why| NotResumed::Unclear { name: name.to_owned(), why })?;
    let run = Run::load(found).map_err(NotResumed::Unreadable)?;
    if whose.is_under(&run) { Ok(run) } else { Err(NotResumed::OtherContract(run.id)) }
}

/// The newest run of this very plan that has done something; without one, the newest of the target,
/// which can be said to be another. A contract that was refused has not run.
fn newest(runs: &[Found], whose: &Whose<'_>, plan: &Plan) -> Option<Run> {
    let current = hash(plan);
    let mut of_target = None;
    for run in runs.iter().filter_map(|found| Run::load(found).ok()) {
        if !whose.is_of(&run) || run.state == State::Ended(Status::Refused) {
            continue;
        }
        let has_done = match run.state {
            State::Running | State::Ended(Status::Executed | Status::Drifted) => true,
            State::Ended(_) => !matches!(failed_path(&run), Ok(None)),
        };
        if has_done && run.text("plan_hash") == Some(&current) {
            return Some(run);
        }
        of_target = of_target.or(Some(run));
    }
    of_target
}

/// The path of the step in `plan` at which `run` is continued.
pub fn path(run: &Run, plan: &Plan) -> Result<String, NotResumed> {
    if run.state == State::Running {
        return Err(NotResumed::StillRunning(run.id.clone()));
    }
    let failed = failed_path(run).map_err(NotResumed::Unreadable)?;
    let failed = failed.ok_or_else(|| NotResumed::NoFailedStep(run.id.clone()))?;
    // The path means what it meant only in the plan that it was of.
    let same = Some(plan).filter(|plan| hash(plan) == failed.plan_hash);
    let path = same.and_then(|plan| together(plan, &failed.path));
    path.map(str::to_owned).ok_or_else(|| NotResumed::OtherPlan(run.id.clone()))
}

/// How the targets of its fleets ended, where they are continued one by one.
pub fn fleets(run: &Run, plan: &Plan) -> Result<Vec<FleetTable>, NotResumed> {
    let tables = reader::tables(&run.folder).map_err(NotResumed::Unreadable)?;
    Ok(continued(plan, tables))
}

/// Whether `--resume` would find a step in this record, and could begin there.
#[must_use]
pub fn can_be_resumed(folder: &Path, resolved: &Resolved) -> bool {
    let id = folder.file_name().and_then(OsStr::to_str).and_then(|name| name.parse().ok());
    let found = id.map(|id| Found { id, folder: folder.to_owned() });
    let Some(run) = found.and_then(|found| Run::load(&found).ok()) else { return false };
    let failed = failed_path(&run).ok().flatten();
    // A step that only fails would fail again.
    let only_fails =
        |path: &str| resolved.plan.step(path).is_some_and(|it| it.node.name() == "@fail");
    let failed = failed.filter(|failed| !only_fails(&failed.path));
    let path = failed.as_ref().and_then(|failed| together(&resolved.plan, &failed.path));
    let Resolved { plan, secrets, .. } = resolved;
    let is_open = path.is_some_and(|path| can_begin(plan, secrets, path));
    is_open && fleets(&run, plan).is_ok_and(|tables| can_continue(plan, secrets, &tables))
}

/// As records name it.
fn hash(plan: &Plan) -> String {
    format!("{}:{}", plan.algorithm.name(), plan_hash(plan).hex())
}

#[cfg(test)]
pub(crate) mod tests;
