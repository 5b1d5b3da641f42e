//! `opal run`: a function, a file, or a contract.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::contract::{self, Contract, Drift};
use opal_core::hash::Algorithm;
use opal_core::plan::Target;
use opal_core::{Code, Diagnostic, Duration, Value};
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
use crate::tasks::{self, quoted};
use crate::view;
use crate::view::plan::Comparison;

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
    trust::not_over(context, options, path, &opened, &|| {
        Some(mend(context, options, &opened.contract, &source, path))
    })?;
    let fresh = match replan(context, options, &source, &mut opened)? {
        Ok(fresh) => fresh,
        Err(exit) => return Ok(exit),
    };
    let verdict = contract::compare(&opened.contract, &fresh.plan);
    let mend = mend(context, options, &opened.contract, &source, path);
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
    if options.dry_run {
        return view::plan::verified(path, &opened.contract, options.is_json());
    }
    let shown = path.display();
    let message = if verdict.is_same() {
        format!("`{shown}` is the plan of today, but running is not part of this version")
    } else {
        view::plan::forced(&comparison, context);
        format!("`{shown}` could be forced, but running is not part of this version")
    };
    if verdict.is_same() && verdict.source_moved {
        view::plan::note("the source has changed, and still gives the same plan");
    }
    let help = "nothing was run; see CHANGELOG.md for what comes next";
    Err(Failure::new(Exit::Unavailable, message, help))
}

/// Where the source is: where `-f` says, where the contract has it from here, or where it was.
pub(crate) fn source_path(contract: &Contract, file: Option<&PathBuf>) -> Option<PathBuf> {
    let recorded = || {
        let source = contract.provenance().source.as_ref()?;
        let near = PathBuf::from(&source.path);
        Some(if near.is_file() { near } else { PathBuf::from(&source.absolute) })
    };
    file.cloned().or_else(recorded).or_else(crate::project::find)
}

/// The source of today.
pub(crate) fn source_of(
    context: &Context<'_>,
    contract: &Contract,
    file: Option<&PathBuf>,
) -> Result<Loaded, Failure> {
    let path = crate::project::file_or_project(source_path(contract, file).as_ref())?;
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
    let world = subject.world(context)?;
    let fresh = subject.examine(context).map_err(Unplanned::Errors).and_then(|checked| {
        let request = Request {
            unit: checked.unit(),
            registry: &context.registry,
            text: Some((&loaded.parse, &loaded.text)),
            function: subject.function.as_deref(),
            arguments: &subject.arguments,
            algorithm: planned.algorithm,
            purpose: Purpose::Contract,
        };
        plan(&request, &world, &mut opened.keys)
    });
    match fresh {
        Ok(resolved) => Ok(Ok(resolved)),
        Err(Unplanned::Key(error)) => Err(Failure::key(error)),
        Err(Unplanned::Errors(errors)) => {
            let code = drift(&errors, &loaded.text, moved);
            view::plan::no_plan(&subject.found(errors), code, options.is_json(), context).map(Err)
        }
    }
}

/// Why there is no plan today: what is gone, or else the source.
fn drift(errors: &[Diagnostic], text: &str, moved: bool) -> Drift {
    let missing = errors.iter().find(|error| error.code == Code::ValueMissing);
    match missing {
        Some(error) => {
            let reference = &text[error.primary.span.range()];
            Drift::of_missing(reference.strip_prefix('@').unwrap_or(reference))
        }
        None if moved => Drift::SourceChanged,
        None => Drift::ValueChanged,
    }
}

/// The command that makes the contract anew. Who signed it and whom it was sealed to is not known.
pub(crate) fn mend(
    context: &Context<'_>,
    options: &PlanOptions,
    contract: &Contract,
    source: &Loaded,
    path: &Path,
) -> String {
    let plan = contract.plan();
    let target = &plan.target;
    let task = source.task(&target.name).filter(|_| target.name != Target::SCRIPT);
    // Options of a task stand behind its name, opal's before it: they can have the same names.
    let mut words = vec!["opal plan -o".to_owned(), quoted(&path.display().to_string())];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), quoted(&value)]);
    if task.is_some() && !is_project_file(&source.path) {
        option("-f", source.path.display().to_string());
    }
    if let Some(root) = options.root.as_ref().or(context.typed.root.as_ref()) {
        option("--root", root.display().to_string());
    }
    if let Some(identity) = &options.identity {
        option("--identity", identity.clone());
    }
    if plan.algorithm != Algorithm::default() {
        option("--hash-algo", plan.algorithm.name().to_owned());
    }
    if let Some(end) = contract.provenance().expires.filter(|end| *end > contract.created()) {
        let nanos = (end - contract.created()).saturating_mul(1_000_000_000);
        option("--expires", Duration::from_nanos(nanos).to_string());
    }
    if contract.provenance().once {
        words.push("--once".to_owned());
    }
    match &task {
        Some(task) => words.extend(tasks::words(task, &target.arguments)),
        None => {
            words.push(quoted(&source.name));
            if let Some(Value::Array(items)) = target.arguments.get("args") {
                words.extend(items.iter().map(tasks::word));
            }
        }
    }
    words.join(" ")
}

/// Whether it is the file that is found without being named.
fn is_project_file(path: &Path) -> bool {
    let found = crate::project::find().and_then(|found| found.canonicalize().ok());
    found.is_some() && found == path.canonicalize().ok()
}
