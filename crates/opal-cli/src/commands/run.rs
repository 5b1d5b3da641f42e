//! `opal run`: a function, a file, or a contract.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::contract::{self, Contract, Drift};
use opal_core::plan::Target;
use opal_core::{Code, Diagnostic, Value};
use opal_runtime::contracts::Opened;
use opal_runtime::plan::{Purpose, Request, Resolved, Unplanned, plan};

use super::plan as plans;
use super::plan::trust;
use super::task;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::planning::{Outcome, Subject};
use crate::source::{Loaded, NotLoaded};
use crate::view::plan::Comparison;
use crate::{tasks, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let target = matches.get_one::<String>("target");
    if let Some(path) = matches.get_one::<PathBuf>("plan") {
        if target.is_some() {
            return Err(Failure::usage(
                "a contract says itself what runs, and with which arguments",
                "leave the target and its arguments away: `opal run --plan FILE`",
            ));
        }
        return contract_run(context, &options, path, matches);
    }
    let rest: Vec<OsString> = matches
        .get_many::<String>("arguments")
        .map(|all| all.map(OsString::from).collect())
        .unwrap_or_default();
    match target {
        Some(target) => {
            let file = context.file(matches);
            task::resolve_target(context, target, file, &rest, options, task::Wish::Run)
        }
        None => Err(Failure::usage("`opal run` needs a target", "see `opal run --help`")),
    }
}

/// Everything up to the first step.
fn contract_run(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let bytes = plans::read_file(path)?;
    let mut opened = plans::open(context, options, path, &bytes)?;
    let source = source_of(context, &opened.contract, context.file(matches))?;
    let required = plans::required(matches);
    let policy = trust::policy(context, options, &required, Some(&source.path))?;
    trust::judge(&policy, &bytes, &opened.contract)?;
    trust::in_time(path, &opened.contract)?;
    trust::unused(context, options, path, &opened)?;
    let fresh = match replan(context, options, &source, &mut opened)? {
        Ok(fresh) => fresh,
        Err(exit) => return Ok(exit),
    };
    let verdict = contract::compare(&opened.contract, &fresh.plan);
    let mend = mend(&opened.contract, &source, path);
    let comparison = Comparison {
        before: opened.contract.plan(),
        after: &fresh.plan,
        verdict: &verdict,
        names: ["contract", "now"],
        mend: Some(&mend),
    };
    let force = matches.get_flag("force") && verdict.may_be_forced();
    let strict = matches.get_flag("strict-source") && verdict.source_moved;
    if !verdict.is_same() && !force || strict {
        return view::plan::refuse(&comparison, strict, options.is_json(), context);
    }
    if !verdict.is_same() {
        view::plan::forced(&comparison, context);
    } else if verdict.source_moved {
        view::plan::source_moved();
    }
    Err(Failure::new(
        Exit::Unavailable,
        format!(
            "`{}` is the plan of today, but running is not part of this version",
            path.display()
        ),
        "nothing was run; see CHANGELOG.md for what comes next",
    ))
}

/// The source where `-f` says, or where the contract recorded it.
pub(crate) fn source_of(
    context: &Context<'_>,
    contract: &Contract,
    file: Option<&PathBuf>,
) -> Result<Loaded, Failure> {
    let recorded = contract.provenance().source.as_ref();
    let path = match (file, recorded) {
        (Some(file), _) => file.clone(),
        (None, Some(source)) => {
            let near = PathBuf::from(&source.path);
            if near.is_file() { near } else { PathBuf::from(&source.absolute) }
        }
        (None, None) => crate::project::file_or_project(None)?,
    };
    Loaded::read(&path, &context.registry).map_err(|not| match not {
        NotLoaded::Failure(failure) if file.is_none() => {
            failure.help("the contract was made there; `-f FILE` names the source of today")
        }
        other => other.into_failure(),
    })
}

/// Plans afresh what the contract has planned, with the contract's keys.
pub(crate) fn replan(
    context: &Context<'_>,
    options: &PlanOptions,
    loaded: &Loaded,
    opened: &mut Opened,
) -> Outcome<Resolved> {
    let planned = opened.contract.plan();
    let script = planned.target.name == Target::SCRIPT;
    let subject = Subject {
        loaded,
        function: (!script).then(|| planned.target.name.clone()),
        arguments: planned.target.arguments.clone(),
    };
    let moved =
        opal_runtime::plan::source_hash(planned.algorithm, &loaded.text) != planned.source_hash;
    let checked = match subject.check(context, options.is_json())? {
        Ok(checked) => checked,
        Err(_) => return Ok(Err(no_plan(&[], moved))),
    };
    let request = Request {
        unit: &checked.unit,
        registry: &context.registry,
        text: Some((&loaded.parse, &loaded.text)),
        function: subject.function.as_deref(),
        arguments: &subject.arguments,
        algorithm: planned.algorithm,
        purpose: Purpose::Contract,
    };
    let world = subject.world(context)?;
    match plan(&request, &world, &mut opened.keys) {
        Ok(resolved) => Ok(Ok(resolved)),
        Err(Unplanned::Key(error)) => Err(Failure::key(error)),
        Err(Unplanned::Errors(errors)) => {
            let exit = no_plan(&errors, moved);
            subject.report(errors, context, options.is_json())?;
            Ok(Err(exit))
        }
    }
}

/// There is no plan today: says why in the words of a contract.
fn no_plan(errors: &[Diagnostic], moved: bool) -> Exit {
    let missing = errors.iter().find(|error| error.code == Code::ValueMissing);
    let code = match missing {
        _ if moved => Drift::SourceChanged,
        Some(error) => Drift::of_missing(&error.message),
        None => Drift::ValueChanged,
    };
    view::plan::no_plan(code);
    Exit::Refused
}

/// The command that makes the contract anew.
fn mend(contract: &Contract, source: &Loaded, path: &Path) -> String {
    let target = &contract.plan().target;
    let task = source.task(&target.name).filter(|_| target.name != Target::SCRIPT);
    let words = match &task {
        Some(task) => tasks::words(task, &target.arguments),
        None => {
            let args = match target.arguments.get("args") {
                Some(Value::Array(items)) => items.iter().map(tasks::word).collect(),
                _ => Vec::new(),
            };
            std::iter::once(source.name.clone()).chain(args).collect::<Vec<_>>()
        }
    };
    // Options of a task stand behind its name, opal's before it: they can have the same names.
    format!("opal plan -o {} {}", path.display(), words.join(" "))
}
