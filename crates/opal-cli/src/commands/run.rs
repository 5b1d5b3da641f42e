//! `opal run`: a function, a file, or a contract.

mod mend;
mod refusal;
pub(crate) mod resources;
mod today;

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::contract::Drift;
use opal_core::keys::Keys;
use opal_core::plan::{Plan, Target};
use opal_core::{Code, Diagnostic};
use opal_plan::plan::{Purpose, Resolved, Unplanned};
use opal_trust::contracts::Opened;
use opal_vault::record::{Contract as Named, Drifted, Reason};

pub(crate) use mend::{mend, of_module};
use refusal::Attempt;
pub(crate) use today::{Today, source_path};

use super::execute::keeper::Keeper;
use super::execute::{self, Claim, Errand, Held};
use super::plan as plans;
use super::plan::trust;
use super::{module, task, verify};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::planning::{Aim, CUT_OFF, Outcome, Subject};
use crate::signals::Watched;
use crate::source::Loaded;
use crate::view;
use crate::view::plan::Comparison;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some(path) = matches.get_one::<PathBuf>("plan") else {
        return task::typed(context, matches, task::Wish::Run);
    };
    if matches.contains_id("target") {
        return Err(Failure::usage(
            "a contract says itself what runs, and with which arguments",
            "leave the target and its arguments away: `opal run --plan FILE`",
        ));
    }
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    contract_run(context, &asked, path, matches)
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
    let attempt = Attempt { context, asked, path, bytes: &bytes };
    let opened = plans::open(context, options, path, &bytes)
        .map_err(|failure| attempt.refused(failure, None))?;
    let file = context.file(matches);
    let contract = Some(&opened.contract);
    let read = Today::read(context, &opened.contract, file, options)
        .map_err(|failure| attempt.refused(failure.refusing(Reason::NotPlannable), contract))?;
    let Some(today) = read else {
        let message = "there is no plan to compare with the contract: its source has errors";
        let why = (Reason::NotPlannable, message.to_owned(), Exit::Source);
        attempt.keep(contract, why, Vec::new());
        return Ok(Exit::Source);
    };
    let (context, watched) = (today.context(context), Watched::begin()?.within(asked.run.timeout));
    let Today::Module(found) = &today else {
        let source = (today.loaded(), &watched, None);
        return hold(context, asked, (path, &bytes), matches, opened, source);
    };
    module::run::runs_whole(asked)?;
    let (around, source) = &**found;
    // Nobody else changes this module until the end.
    let _lock = if options.dry_run { None } else { module::run::ready(around, &source.run)? };
    let keeper = module::Keeping::new(context, asked, around, (&source.run, &watched))
        .of_contract(of_module(context, options, &opened.contract, path));
    let source = (&source.loaded, &watched, Some(&keeper as &dyn Keeper));
    hold(context, asked, (path, &bytes), matches, opened, source)
}

/// Goes on where the plan of today is the contract's.
fn hold(
    context: &Context<'_>,
    asked: &Asked,
    (path, bytes): (&Path, &[u8]),
    matches: &ArgMatches,
    mut opened: Opened,
    (source, watched, keeper): (&Loaded, &Watched, Option<&dyn Keeper>),
) -> Result<Exit, Failure> {
    let options = &asked.plan;
    let required = plans::required(matches);
    let policy = trust::policy(context, options, &required, Some(&source.path))?;
    let attempt = Attempt { context, asked, path, bytes };
    let refused = |failure| attempt.refused(failure, Some(&opened.contract));
    trust::judge(&policy, bytes, &opened.contract).map_err(refused)?;
    trust::not_over(context, options, path, &opened, &|| {
        Some(mend(context, options, &opened.contract, source, path))
    })
    .map_err(refused)?;
    let mut why = None;
    let fresh = match replan(context, options, source, &mut opened, watched, &mut why)? {
        Ok(fresh) => fresh,
        Err(exit) => {
            if let Some(message) = why {
                let why = (Reason::NotPlannable, message, exit);
                attempt.keep(Some(&opened.contract), why, Vec::new());
            }
            return Ok(exit);
        }
    };
    let key = opened.keys.placeholder_key().map_err(Failure::key)?;
    let (held, subject) = ((&opened, &key), subject(source, &fresh.plan));
    let verdict = match resources::compare(context, options, held, (&subject, &fresh), watched)? {
        Ok(verdict) => verdict,
        Err(exit) => return Ok(exit),
    };
    let mend = mend(context, options, &opened.contract, source, path);
    let comparison = Comparison {
        before: opened.contract.plan(),
        after: &fresh.plan,
        verdict: &verdict,
        names: ["contract", "now"],
        mend: Some(&mend),
        look: Some(&verify::again(&subject)),
        registry: &context.registry,
        source: Some((&source.name, &source.text)),
        is_older: opened.contract.is_older(),
        beside: &[],
    };
    let force = matches.get_flag("force") && verdict.may_be_forced();
    let strict = matches.get_flag("strict-source") && verdict.source_moved;
    let named = Named { file_digest: opened.id, path: path.display().to_string() };
    let drift: Vec<Drifted> = verdict.differences.iter().map(Drifted::from).collect();
    if !verdict.is_same() && !force || strict {
        let message = view::plan::refused(&comparison, Exit::Refused).message;
        let why = (Reason::Drifted, message, Exit::Refused);
        attempt.keep(Some(&opened.contract), why, drift);
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
        watched,
        claim: once.then(|| Claim { contract: opened.id, file: named.path.clone(), mend }),
        contract: Some(Held { named, drift, key }),
        // It has had its run, or is a module, which always runs whole.
        again: (!once && keeper.is_none()).then(|| execute::again::contract(context, asked, path)),
        keeper,
    };
    execute::execute(context, asked, &errand)
}

pub(crate) fn subject<'s>(loaded: &'s Loaded, plan: &Plan) -> Subject<'s> {
    let script = plan.target.name == Target::SCRIPT;
    Subject {
        loaded,
        function: (!script).then(|| plan.target.name.clone()),
        arguments: plan.target.arguments.clone(),
    }
}

/// Plans again what the contract has planned, with the contract's keys. Where there is no plan now,
/// `why` gets the reason.
pub(crate) fn replan(
    context: &Context<'_>,
    options: &PlanOptions,
    loaded: &Loaded,
    opened: &mut Opened,
    watched: &Watched,
    why: &mut Option<String>,
) -> Outcome<Resolved> {
    let planned = opened.contract.plan();
    let subject = subject(loaded, planned);
    let moved =
        opal_plan::plan::source_hash(planned.algorithm, &loaded.text) != planned.source_hash;
    let world = subject.world(context, options)?.stopped_by(watched.stop());
    let older = opened.contract.is_older();
    let purpose = if older { Purpose::OldContract } else { Purpose::Contract };
    let aim = Aim { algorithm: planned.algorithm, ..Aim::new(purpose, options) };
    let fresh = subject
        .examine(context)
        .map_err(Unplanned::Errors)
        .and_then(|program| subject.resolve(context, &program, aim, &world, &mut opened.keys));
    context.stages.end("plan");
    match fresh {
        Ok(resolved) => {
            view::trace::source(loaded, options);
            view::trace::plan(&resolved.plan, options);
            Ok(Ok(resolved))
        }
        Err(Unplanned::Key(error)) => Err(Failure::key(error)),
        Err(Unplanned::Errors(errors)) => match watched.cut_off(CUT_OFF) {
            Some(ended) => ended.map(Err),
            None => {
                let code = drift(&errors, moved);
                *why = Some(unplanned(&errors, code));
                let found = subject.found(errors);
                view::plan::no_plan(&found, code, options.is_json(), context).map(Err)
            }
        },
    }
}

/// The first of the errors, for the record.
fn unplanned(errors: &[Diagnostic], code: Drift) -> String {
    let first = errors.first().map_or("", |error| &error.message);
    format!("there is no plan to compare with the contract ({code}): {first}")
}

/// Why there is no plan today: what is gone, or else the source.
fn drift(errors: &[Diagnostic], moved: bool) -> Drift {
    if errors.iter().any(|error| error.code == Code::ValueUnreachable) {
        return Drift::InfraMissing;
    }
    let missing = errors.iter().find(|error| error.code == Code::ValueMissing);
    match missing.and_then(|error| error.unread) {
        Some(decorator) => Drift::of_missing(decorator),
        None if moved => Drift::SourceChanged,
        None => Drift::ValueChanged,
    }
}
