//! The first step to run, where it is not the first of the plan.

use std::path::Path;

use opal_core::hash::Digest;
use opal_core::plan::Plan;
use opal_exec::execute::leaf;
use opal_ops::planning::record_name;
use opal_ops::resume::{self, Which, Whose};
use opal_vault::Vault;
use opal_vault::record::reader::Run;
use opal_vault::targets::FleetTable;

use super::errand::Errand;
use super::recording;
use crate::context::Context;
use crate::failure::Failure;
use crate::failure::record::not_resumed;
use crate::options::{Asked, Resume};

/// Where a run begins that does not begin at its first step.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    pub(super) path: Option<String>,
    /// How the targets of fleets ended in the run that is resumed.
    pub(super) fleets: Vec<FleetTable>,
}

/// The path that `--from` or `--resume` means.
pub(super) fn from(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    start: &Path,
    vault: &Vault,
) -> Result<Beginning, Failure> {
    let (source, plan) = (&errand.subject.loaded.path, &errand.resolved.plan);
    let claim = errand.claim.as_ref();
    let resumed = |run: &Run| {
        let path = Some(resume::path(run, plan)?);
        Ok(Beginning { path, fleets: resume::fleets(run, plan)? })
    };
    let found = match (&asked.run.from, &asked.run.resume) {
        (Some(from), _) => {
            return named(plan, from)
                .map(|path| Beginning { path: Some(path), ..Beginning::default() });
        }
        (None, None) => return Ok(Beginning::default()),
        (None, Some(resume)) => match claim.and_then(|claim| claim.resumed.as_ref()) {
            Some(run) => resumed(run),
            None => {
                let root = context.needed_root(asked.plan.root.as_ref())?;
                let target = record_name(source, plan);
                let whose = whose(target, start, vault, claim.map(|claim| claim.contract));
                resume::earlier(&root, which(resume), &whose, plan).and_then(|run| resumed(&run))
            }
        },
    };
    found.map_err(|why| not_resumed(why, &context.opal_runs(asked.plan.root.as_ref())))
}

pub(crate) fn which(resume: &Resume) -> Which<'_> {
    match resume {
        Resume::Last => Which::Last,
        Resume::Run(name) => Which::Named(name),
    }
}

/// Runs of this target that started in this directory, of a single-use contract only its own.
pub(crate) fn whose<'t>(
    target: &'t str,
    start: &Path,
    vault: &Vault,
    contract: Option<Digest>,
) -> Whose<'t> {
    let directory = recording::directory(start);
    let hidden = vault.scrub(&directory).text().into_owned();
    Whose { target, directory: [hidden, directory], place: recording::place(start), contract }
}

/// `step:N`, or a path as it stands.
fn named(plan: &Plan, from: &str) -> Result<String, Failure> {
    let Some(number) = from.strip_prefix("step:") else {
        return plan.step(from).map(|step| step.path.to_string()).ok_or_else(|| {
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
