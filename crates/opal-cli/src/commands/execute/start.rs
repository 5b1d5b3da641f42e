//! The first step to run, where it is not the first of the plan.

use opal_core::contract::plan_hash;
use opal_core::plan::Plan;
use opal_runtime::execute::leaf;
use opal_runtime::record::failed_path;
use opal_runtime::record::reader::{self, FailedPath, Run, State};

use crate::commands::runs::{unclear, unreadable};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, Resume};

/// The path that `--from` or `--resume` means.
pub(super) fn from(
    context: &Context<'_>,
    asked: &Asked,
    plan: &Plan,
) -> Result<Option<String>, Failure> {
    match (&asked.run.from, &asked.run.resume) {
        (Some(from), _) => named(plan, from).map(Some),
        (None, Some(resume)) => taken_up(context, asked, plan, resume).map(Some),
        (None, None) => Ok(None),
    }
}

/// `step:N`, or a path as it stands.
fn named(plan: &Plan, from: &str) -> Result<String, Failure> {
    let Some(number) = from.strip_prefix("step:") else {
        return super::find(plan, from).map(|step| step.path.to_string()).ok_or_else(|| {
            Failure::usage(
                format!("the plan has no step `{from}`"),
                "`opal TASK --dry-run --json` has the path of each step; `step:N` counts them",
            )
        });
    };
    let number: usize = number.parse().unwrap_or(usize::MAX);
    leaf(plan, number).map(str::to_owned).ok_or_else(|| {
        Failure::usage(
            format!("there is no step {number}"),
            "steps that run something are counted from 1; `--dry-run` shows them",
        )
    })
}

fn taken_up(
    context: &Context<'_>,
    asked: &Asked,
    plan: &Plan,
    resume: &Resume,
) -> Result<String, Failure> {
    let root = context.needed_root(asked.plan.root.as_ref())?;
    let runs = reader::list(&root)
        .map_err(|error| Failure::new(Exit::Write, error.to_string(), error.help()))?;
    let run = match resume {
        Resume::Run(name) => Run::load(reader::find(&runs, name).map_err(|why| unclear(name, &why))?),
        Resume::Last => {
            let target = &plan.target.name;
            let loaded = runs.iter().map(Run::load);
            let mut loaded = loaded.filter_map(Result::ok).filter(|run| run.target() == target);
            loaded.next().map(Ok).ok_or_else(|| {
                Failure::usage(
                    format!("there is no earlier run of `{target}`"),
                    "run it without `--resume` first",
                )
            })?
        }
    };
    let run = run.map_err(unreadable)?;
    if run.state == State::Running {
        return Err(Failure::usage(
            format!("`{}` is still running", run.id),
            "wait for its end, or watch it with `opal runs tail`",
        ));
    }
    let found = failed_path(&run).map_err(unreadable)?.ok_or_else(|| {
        Failure::usage(
            format!("`{}` did not fail at a step, so there is nothing to take up", run.id),
            "run it without `--resume`",
        )
    })?;
    same_plan(plan, &run, found)
}

/// The path means what it meant only in the plan that it was of.
fn same_plan(plan: &Plan, run: &Run, found: FailedPath) -> Result<String, Failure> {
    let today = format!("{}:{}", plan.algorithm.name(), plan_hash(plan).hex());
    if today == found.plan_hash {
        return Ok(found.path);
    }
    Err(Failure::new(
        Exit::Refused,
        format!("the plan of `{}` is not the plan of today", run.id),
        "the source, an argument or a decision has changed: run it whole, without `--resume`",
    )
    .help("`--from PATH` starts at a step of the plan of today"))
}
