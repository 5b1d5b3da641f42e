//! The first step to run, where it is not the first of the plan.

use std::ffi::OsStr;
use std::path::Path;

use opal_core::contract::plan_hash;
use opal_core::plan::Plan;
use opal_exec::execute::{can_begin, leaf, together};
use opal_ops::planning::record_name;
use opal_plan::plan::Resolved;
use opal_vault::Vault;
use opal_vault::event::Status;
use opal_vault::record::failed_path;
use opal_vault::record::reader::{self, Found, Run, State};

use super::errand::Errand;
use super::recording;
use super::steps::find;
use crate::context::Context;
use crate::failure::record::{root_failure, unclear, unreadable};
use crate::failure::{Exit, Failure};
use crate::options::{Asked, Resume};

/// The path that `--from` or `--resume` means.
pub(super) fn from(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    start: &Path,
    vault: &Vault,
) -> Result<Option<String>, Failure> {
    let (source, plan) = (&errand.subject.loaded.path, &errand.resolved.plan);
    match (&asked.run.from, &asked.run.resume) {
        (Some(from), _) => named(plan, from).map(Some),
        (None, Some(resume)) => {
            let directory = recording::directory(start);
            let hidden = vault.scrub(&directory).text().into_owned();
            let target = record_name(source, plan);
            let place = recording::place(start).map(|place| place.hex());
            let here = Here { target, directory: [hidden, directory], place };
            taken_up(&earlier(context, asked, resume, &here, plan)?, plan).map(Some)
        }
        (None, None) => Ok(None),
    }
}

/// Whose runs count: those of a task in one checkout.
struct Here<'h> {
    target: &'h str,
    /// As a record names it today, and as it is: what is hidden in it changes with the source.
    directory: [String; 2],
    /// What a record has beside a name that its run has learnt to hide.
    place: Option<String>,
}

impl Here<'_> {
    fn is_of(&self, run: &Run) -> bool {
        let is_named = |named| self.directory.iter().any(|here| here == named);
        let is_same = |place| self.place.as_deref() == Some(place);
        run.target() == self.target
            && (run.text("directory").is_some_and(is_named)
                || run.text("place").is_some_and(is_same))
    }
}

/// Whether `--resume` would find a step in this record, and could begin there.
pub(super) fn can_be_taken_up(folder: &Path, resolved: &Resolved) -> bool {
    let id = folder.file_name().and_then(OsStr::to_str).and_then(|name| name.parse().ok());
    let found = id.map(|id| Found { id, folder: folder.to_owned() });
    let run = found.and_then(|found| Run::load(&found).ok());
    let failed = run.and_then(|run| failed_path(&run).ok().flatten());
    let path = failed.as_ref().and_then(|failed| together(&resolved.plan, &failed.path));
    path.is_some_and(|path| can_begin(&resolved.plan, &resolved.secrets, path))
}

/// `step:N`, or a path as it stands.
fn named(plan: &Plan, from: &str) -> Result<String, Failure> {
    let Some(number) = from.strip_prefix("step:") else {
        return find(plan, from).map(|step| step.path.to_string()).ok_or_else(|| {
            Failure::usage(
                format!("the plan has no step `{from}`"),
                "list the paths with `opal TASK --dry-run --paths`; `step:N` counts the steps",
            )
        });
    };
    let number: usize = number.parse().unwrap_or(usize::MAX);
    leaf(plan, number).map(str::to_owned).ok_or_else(|| {
        Failure::usage(
            format!("unknown step {number}"),
            "steps that run something are counted from 1; `--dry-run` shows them",
        )
    })
}

/// The run that `--resume` means.
fn earlier(
    context: &Context<'_>,
    asked: &Asked,
    resume: &Resume,
    here: &Here<'_>,
    plan: &Plan,
) -> Result<Run, Failure> {
    let root = context.needed_root(asked.plan.root.as_ref())?;
    let runs = reader::list(&root).map_err(root_failure)?;
    match resume {
        Resume::Run(name) => {
            let found = reader::find(&runs, name).map_err(|why| unclear(name, &why))?;
            Run::load(found).map_err(unreadable)
        }
        Resume::Last => newest(&runs, here, plan).ok_or_else(|| {
            Failure::usage(
                format!("no earlier run of `{}` in this directory", here.target),
                "run it without `--resume` first, or name a run of another directory with `--resume=RUN`",
            )
        }),
    }
}

/// The newest run of this very plan that has done something; without one, the newest of the target,
/// which can be said to be another. A contract that was refused has not run.
fn newest(runs: &[Found], here: &Here<'_>, plan: &Plan) -> Option<Run> {
    let today = hash(plan);
    let mut of_target = None;
    for run in runs.iter().filter_map(|found| Run::load(found).ok()) {
        if !here.is_of(&run) || run.state == State::Ended(Status::Refused) {
            continue;
        }
        let has_done = match run.state {
            State::Running | State::Ended(Status::Executed | Status::Drifted) => true,
            State::Ended(_) => !matches!(failed_path(&run), Ok(None)),
        };
        if has_done && run.text("plan_hash") == Some(&today) {
            return Some(run);
        }
        of_target = of_target.or(Some(run));
    }
    of_target
}

fn taken_up(run: &Run, plan: &Plan) -> Result<String, Failure> {
    if run.state == State::Running {
        return Err(Failure::usage(
            format!("`{}` is still running", run.id),
            "wait for it to end, or follow it with `opal runs tail`",
        ));
    }
    let found = failed_path(run).map_err(unreadable)?.ok_or_else(|| {
        Failure::usage(
            format!("`{}` did not fail at a step, so it cannot be resumed", run.id),
            "run it without `--resume`",
        )
    })?;
    // The path means what it meant only in the plan that it was of.
    let same = Some(plan).filter(|plan| hash(plan) == found.plan_hash);
    let path = same.and_then(|plan| together(plan, &found.path));
    path.map(str::to_owned).ok_or_else(|| {
        Failure::new(
            Exit::Refused,
            format!("the plan of `{}` is not the current plan", run.id),
            "the source, an argument or a decision has changed: run it without `--resume`",
        )
        .help("`--from PATH` starts at a step of the current plan")
    })
}

/// As records name it.
fn hash(plan: &Plan) -> String {
    format!("{}:{}", plan.algorithm.name(), plan_hash(plan).hex())
}
