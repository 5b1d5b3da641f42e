//! `opal run`: a function, a file, or a contract.

pub(crate) mod resources;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::contract::{Contract, Drift};
use opal_core::hash::Algorithm;
use opal_core::plan::{Plan, Target};
use opal_core::record::Status;
use opal_core::{Code, Diagnostic, Duration, Value};
use opal_runtime::contracts::Opened;
use opal_runtime::plan::{Keys, Purpose, Resolved, Unplanned};
use opal_runtime::record::{self, Contract as Named, Drifted, Ending};

use super::execute::{self, Errand, Held, recording};
use super::plan as plans;
use super::plan::trust;
use super::task;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::planning::{Outcome, Subject};
use crate::signals::Watched;
use crate::source::{Loaded, NotLoaded};
use crate::tasks::{self, quoted};
use crate::view::plan::Comparison;
use crate::{project, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    let target = matches.get_one::<String>("target");
    if let Some(path) = matches.get_one::<PathBuf>("plan") {
        if target.is_some() {
            return Err(Failure::usage(
                "a contract says itself what runs, and with which arguments",
                "leave the target and its arguments away: `opal run --plan FILE`",
            ));
        }
        return contract_run(context, &asked, path, matches);
    }
    let rest: Vec<OsString> = matches
        .get_many::<String>("arguments")
        .map(|all| all.map(OsString::from).collect())
        .unwrap_or_default();
    match target {
        Some(target) => {
            let file = context.file(matches);
            task::resolve_target(context, target, file, &rest, asked, task::Wish::Run)
        }
        None => Err(Failure::usage("`opal run` needs a target", "see `opal run --help`")),
    }
}

/// Plans again, compares, and runs the plan of today where it is the contract's.
fn contract_run(
    context: &Context<'_>,
    asked: &Asked,
    path: &Path,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let options = &asked.plan;
    if options.dry_run {
        asked.for_plan()?
    } else {
        asked.for_run()?
    }
    let bytes = plans::read_file(path)?;
    let mut opened = plans::open(context, options, path, &bytes)?;
    let source = source_of(context, &opened.contract, context.file(matches))?;
    let required = plans::required(matches);
    let policy = trust::policy(context, options, &required, Some(&source.path))?;
    trust::judge(&policy, &bytes, &opened.contract)?;
    trust::not_over(context, options, path, &opened, &|| {
        Some(mend(context, options, &opened.contract, &source, path))
    })?;
    let watched = Watched::begin()?;
    let fresh = match replan(context, options, &source, &mut opened, &watched)? {
        Ok(fresh) => fresh,
        Err(exit) => return Ok(exit),
    };
    let key = opened.keys.placeholder_key().map_err(Failure::key)?;
    let (held, subject) = ((&opened, &key), subject(&source, &fresh.plan));
    let verdict = match resources::compare(context, options, held, (&subject, &fresh), &watched)? {
        Ok(verdict) => verdict,
        Err(exit) => return Ok(exit),
    };
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
    let named = Named { file_digest: opened.id, path: path.display().to_string() };
    let drift: Vec<Drifted> = verdict.differences.iter().map(Drifted::from).collect();
    if !verdict.is_same() && !force || strict {
        if !options.dry_run && !asked.run.no_record {
            refusal(context, asked, (&source, opened.contract.plan()), named, drift);
        }
        return view::plan::refuse(&comparison, strict, options.is_json(), context);
    }
    if !verdict.is_same() {
        view::plan::forced(&comparison, context);
    } else if verdict.source_moved {
        view::plan::note("the source has changed, and still gives the same plan");
    }
    if options.dry_run {
        let state = if verdict.is_same() { "the plan of today" } else { "to be forced" };
        return view::plan::verified(path, &opened.contract, state, options.is_json());
    }
    let once = opened.contract.provenance().once;
    let errand = Errand {
        subject: &subject,
        resolved: &fresh,
        watched: &watched,
        contract: Some(Held { named, drift, key }),
        claim: once.then_some(opened.id),
        // It has had its run.
        again: (!once).then(|| execute::again::contract(context, asked, path)),
    };
    execute::execute(context, asked, &errand)
}

/// Keeps a record of a contract that did not hold. That it cannot be kept changes nothing.
fn refusal(
    context: &Context<'_>,
    asked: &Asked,
    (source, plan): (&Loaded, &Plan),
    named: Named,
    drift: Vec<Drifted>,
) {
    let Some(root) = context.root(asked.plan.root.as_ref()) else { return };
    let Ok(start) = subject(source, plan).start() else { return };
    let header = recording::header(context, (&source.path, &start), plan, Some(named), drift);
    let ending = Ending {
        at: header.at,
        took: std::time::Duration::ZERO,
        status: Status::Refused,
        code: i32::from(Exit::Refused.code()),
        failed: None,
        beside: Vec::new(),
        resources: Vec::new(),
    };
    if let Err(unwritten) = record::refused(&root, header, &ending) {
        view::plan::note(&unwritten.to_string());
    }
}

pub(crate) fn subject<'s>(loaded: &'s Loaded, plan: &Plan) -> Subject<'s> {
    let script = plan.target.name == Target::SCRIPT;
    Subject {
        loaded,
        function: (!script).then(|| plan.target.name.clone()),
        arguments: plan.target.arguments.clone(),
    }
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
    watched: &Watched,
) -> Outcome<Resolved> {
    let planned = opened.contract.plan();
    let subject = subject(loaded, planned);
    let moved =
        opal_runtime::plan::source_hash(planned.algorithm, &loaded.text) != planned.source_hash;
    let world = subject.world(context, options)?.stopped_by(watched.stop());
    let form = (planned.algorithm, Purpose::Contract);
    let fresh = subject
        .examine(context)
        .map_err(Unplanned::Errors)
        .and_then(|program| subject.resolve(context, &program, form, &world, &mut opened.keys));
    context.stages.end("plan");
    match fresh {
        Ok(resolved) => {
            view::trace::source(loaded, options);
            view::trace::plan(&resolved.plan, options);
            Ok(Ok(resolved))
        }
        Err(Unplanned::Key(error)) => Err(Failure::key(error)),
        Err(Unplanned::Errors(_)) if watched.exit().is_some() => {
            Ok(Err(watched.exit().unwrap_or(Exit::Source)))
        }
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
    if task.is_some() && !project::is_default(&source.path) {
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
