//! `opal plan`, and `opal TASK --dry-run`.

mod contract;
mod diff;
mod show;
pub(crate) mod trust;
mod verify;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::Path;

use clap::ArgMatches;
use opal_runtime::plan::Purpose;

use super::task;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::planning::Subject;
use crate::view;

pub(crate) use contract::{open, read_file};
pub(crate) use verify::required;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("show", matches)) => return show::run(context, matches),
        Some(("diff", matches)) => return diff::run(context, matches),
        Some(("verify", matches)) => return verify::run(context, matches),
        _ => {}
    }
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let rest: Vec<OsString> = matches
        .get_many::<String>("arguments")
        .map(|all| all.map(OsString::from).collect())
        .unwrap_or_default();
    let Some(target) = matches.get_one::<String>("target") else {
        return Err(Failure::usage("`opal plan` needs a task", "see `opal plan --help`"));
    };
    let file = context.file(matches);
    task::resolve_target(context, target, file, &rest, options, task::Wish::Plan)
}

/// Shows the plan of `subject`, or writes its contract.
pub(crate) fn plan(
    context: &Context<'_>,
    subject: &Subject<'_>,
    options: &PlanOptions,
) -> Result<Exit, Failure> {
    let contract = options.resolve || options.output.is_some();
    if let Some(option) = options.contract_only().filter(|_| !contract) {
        return Err(Failure::usage(
            format!("`{option}` belongs to a contract"),
            "add `--resolve`, or write one with `opal plan TASK -o FILE`",
        ));
    }
    let to_stdout = options.output.as_deref() == Some(Path::new("-"));
    if to_stdout && options.format.is_some() {
        return Err(Failure::usage(
            "the contract and the view cannot both go to standard output",
            "write the contract to a file: `-o FILE`",
        ));
    }
    let kept = options.output.is_some() && !to_stdout;
    let wants_view = options.format.is_some() || context.ambient.stdout_is_terminal && !kept;
    if let Some(option) = options.contract_only().filter(|_| wants_view && !kept) {
        return Err(Failure::usage(
            format!("`{option}` belongs to a contract, and a view is none"),
            "write the contract to a file: `-o FILE`",
        ));
    }
    if let (true, Some(output)) = (kept, &options.output) {
        contract::check_paths(&subject.loaded.path, output)?;
    }
    let checked = match subject.check(context, options.is_json())? {
        // As with the source: the end of the process frees it all at once.
        Ok(checked) => ManuallyDrop::new(checked),
        Err(exit) => return Ok(exit),
    };
    let purpose = if contract { Purpose::Contract } else { Purpose::Quick };
    let mut keys = subject.own_keys(context, options);
    let mut resolved = match subject.plan(context, &checked, options, purpose, &mut keys)? {
        Ok(resolved) => resolved,
        Err(exit) => return Ok(exit),
    };
    // A glance is not the time for advice.
    if contract || !options.dry_run {
        view::check::advice(subject.loaded, std::mem::take(&mut resolved.warnings), context);
    }
    let kept = options.output.is_some() && !to_stdout;
    let wants_view = options.format.is_some() || context.ambient.stdout_is_terminal;
    if contract && (kept || !wants_view) {
        return contract::write(context, subject, options, resolved, &mut keys);
    }
    let plan = subject.view(&resolved, &keys, context, contract);
    let exit = view::plan::show(&plan, options.format.as_deref(), context)?;
    if contract {
        view::plan::output_hint(subject.target());
    }
    Ok(exit)
}
