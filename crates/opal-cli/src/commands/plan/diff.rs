//! `opal plan diff A B`, and `opal plan diff A` against the current plan, or with `--quick` its steps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::ArgMatches;
use opal_core::Duration;
use opal_core::contract::{self, Contract};
use opal_ops::contract::{self as contracts, Refusal, Stopped};
use opal_ops::module::arguments::SKIP;
use opal_ops::planning::{Aim, Subject};
use opal_plan::plan::Purpose;

use super::file::{self, Seen, open, read_file};
use crate::commands::run::compare::{Here, undecided};
use crate::commands::run::current::Current;
use crate::context::Context;
use crate::failure::contract::Refused;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::signals::Watched;
use crate::view;
use crate::view::plan::{Beside, Comparison};
use crate::{planning, tasks};
use opal_core::gather::Gather as _;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let before = matches.get_one::<String>("file").map_or("", String::as_str);
    let before = Path::new(before);
    let Some(after) = matches.get_one::<String>("other") else {
        if matches.get_flag("quick") {
            return against_quick(context, &options, before, matches);
        }
        return against_now(context, &options, before, matches);
    };
    let read = |path: &Path| {
        let Seen { contract, note } = file::read(context, &options, path)?;
        note.iter().for_each(|note| view::plan::note(note));
        Ok(contract)
    };
    let (one, other) = (read(before)?, read(Path::new(after))?);
    let verdict = contract::diff(&one, &other, &context.registry);
    let comparison = Comparison {
        before: one.plan(),
        after: other.plan(),
        verdict: &verdict,
        names: ["first", "second"],
        new_contract: None,
        look: None,
        registry: &context.registry,
        source: None,
        changed_files: Vec::new(),
        is_older: one.is_older() || other.is_older(),
        is_quick: false,
        beside: &beside(&one, &other),
    };
    view::plan::compared(&comparison, &options, context.out())
}

/// The steps of a contract, beside those of a quick plan of now: no command runs, and nobody opens the contract.
fn against_quick(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let Seen { contract, note } = file::read(context, options, path)?;
    note.iter().for_each(|note| view::plan::note(note));
    let Some(current) = Current::read(context, &contract, context.file(matches), options)? else {
        return Ok(Exit::Source);
    };
    let (context, source) = (current.context(context), current.loaded());
    let subject = Subject::of_plan(source, contract.plan());
    let program = match planning::check(&subject, context, options.is_json()) {
        Ok(program) => program,
        Err(stopped) => return stopped.outcome(),
    };
    let mut keys = planning::own_keys(&subject, context, options);
    let algorithm = contract.plan().algorithm;
    let aim = Aim { algorithm, ..options.aim(Purpose::Quick) };
    let watched = Watched::nothing();
    let planned = planning::plan(&subject, context, &program, options, aim, &mut keys, &watched);
    let quick = match planned {
        Ok(resolved) => resolved.plan,
        Err(stopped) => return stopped.outcome(),
    };
    let verdict = contract::compare_quick(&contract, &quick);
    let comparison = Comparison {
        before: contract.plan(),
        after: &quick,
        verdict: &verdict,
        names: ["contract", "now"],
        new_contract: None,
        look: None,
        registry: &context.registry,
        source: Some(source),
        changed_files: source.changed(&contract),
        is_older: contract.is_older(),
        is_quick: true,
        beside: &[],
    };
    view::plan::compared(&comparison, options, context.out())
}

fn against_now(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let bytes = read_file(path)?;
    let mut opened = open(context, options, path, &bytes)?;
    let file = context.file(matches);
    let Some(current) = Current::read(context, &opened.contract, file, options)? else {
        return Ok(Exit::Source);
    };
    let (context, source) = (current.context(context), current.loaded());
    let watched = Watched::begin()?;
    let here = Here::new(context, options, source, opened.contract.plan(), &watched)?;
    let compared = match contracts::compare(&mut opened, &here.now(), false, &|news| {
        here.tell(news)
    }) {
        Ok(compared) => compared,
        Err(Stopped::Undecided(why)) => return undecided(why, &watched),
        Err(Stopped::Refused(refusal)) => {
            context.stages.end("plan");
            let failure = Refused { path, own: None, again: &|| None }.failure(&refusal);
            if let Refusal::Targets(found) = &refusal {
                return view::plan::targets(found, &failure, options.is_json(), context.err());
            }
            let Refusal::NotPlannable { errors, code } = &refusal else { return Err(failure) };
            let found = here.found(errors);
            return view::plan::no_plan(&found, *code, &failure, options.is_json(), context.err());
        }
    };
    let comparison = here.comparison(&opened.contract, &compared, None);
    view::plan::compared(&comparison, options, context.out())
}

/// What two contracts say about a run besides their plans: the packages first.
pub(crate) fn beside(one: &Contract, other: &Contract) -> Vec<Beside> {
    let between = |sides: [BTreeMap<String, String>; 2], is_package: bool| -> Vec<Beside> {
        let names: BTreeSet<&String> = sides.iter().flat_map(BTreeMap::keys).collect();
        let pair = |name: &String| sides.each_ref().map(|said| said.get(name).cloned());
        let pairs = names.into_iter().map(|name| (name.clone(), pair(name)));
        let differ = pairs.filter(|(_, [before, after])| before != after);
        let differ =
            differ.map(|(name, [before, after])| Beside { is_package, name, before, after });
        differ.collect()
    };
    let packages = between([one, other].map(packages), true);
    [packages, between([one, other].map(said), false)].concat()
}

/// Every part of what a contract says about the packages that it was made with.
fn packages(contract: &Contract) -> BTreeMap<String, String> {
    // A package has a record for each of its decorators.
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for one in &contract.provenance().plugins {
        let parts = [
            ("version", Some(one.version.clone())),
            ("checksum", one.checksum.clone()),
            ("source", Some(one.source.clone())),
            ("verification", Some(one.verification.clone())),
            ("signer", one.signed_by.clone()),
            ("schema", one.schema.map(|schema| schema.hex())),
            ("engine", one.engine.clone()),
            ("capabilities", Some(one.capabilities.join(", "))),
        ];
        for (part, text) in parts {
            let text = text.filter(|text| !text.is_empty());
            let known = all.entry(format!("package {} {part}", one.name)).or_default();
            known.extend(text);
        }
    }
    let all = all.into_iter().filter(|(_, texts)| !texts.is_empty());
    all.map(|(name, texts)| (name, Vec::from_iter(texts).join("; "))).collect()
}

/// Every option and argument that the hash does not have, as it is typed.
fn said(contract: &Contract) -> BTreeMap<String, String> {
    let made = contract.provenance();
    let options = made.options.iter().map(|(name, values)| {
        let values: Vec<String> = values.iter().map(|value| tasks::quoted(value)).collect();
        (format!("--{name}"), values.join(" "))
    });
    // The reason is among the options already.
    let arguments = contract.plan().target.arguments.iter().filter(|(name, _)| *name != SKIP);
    let arguments = arguments.map(|(name, value)| (format!("argument {name}"), tasks::word(value)));
    let mut said: BTreeMap<String, String> = options.chain(arguments).gathered();
    if let Some(end) = made.expires {
        let nanos = (end - contract.created()).saturating_mul(1_000_000_000);
        said.insert("--expires".into(), Duration::from_nanos(nanos).to_string());
    }
    if made.once {
        said.insert("--once".into(), "given".into());
    }
    said
}
