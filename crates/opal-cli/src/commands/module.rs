//! `opal module`: looking at modules, and running them.

mod approval;
pub(crate) mod basis;
pub(crate) mod complete;
pub(crate) mod faults;
mod init;
pub(crate) mod inputs;
pub(crate) mod job;
pub(crate) mod keeper;
mod machine;
mod masked;
mod new;
pub(crate) mod of_contract;
mod order;
mod preflight;
pub(crate) mod run;
pub(crate) mod settings;
mod source;

use std::path::PathBuf;

use clap::ArgMatches;
use opal_core::{Severity, suggest};
use opal_modules::inputs::outlook;
use opal_modules::keep::State;
use opal_modules::load;
use opal_modules::run::Command;

use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::failure::module::{invalid, not_found};
use crate::failure::{Exit, Failure};
use crate::module_roots;
use crate::options::PlanOptions;
use crate::view::module as view;
use complete::complete;
use faults::whole;
use inputs::{given, places, reference};

const VERBS: [&str; 12] = [
    "apply",
    "deploy",
    "destroy",
    "init",
    "lint",
    "list",
    "new",
    "plan",
    "preflight",
    "show",
    "validate",
    "verify",
];

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some((verb, matches)) => word(context, verb, matches),
        None => Err(Failure::usage("`opal module` needs a command", "see `opal module --help`")),
    }
}

/// A command by its name, as `opal module` and `hyops` have it.
pub(crate) fn word(
    context: &Context<'_>,
    verb: &str,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    match verb {
        "list" => list(context, matches),
        "show" => show(context, matches),
        "validate" if !matches.get_flag("tools") => validate(context, matches),
        "lint" => lint(context, matches),
        "init" => init::run(context, matches),
        "new" => new::run(context, matches),
        "preflight" => preflight::run(context, matches),
        _ => match Command::named(verb) {
            Some(command) => run::run(context, matches, command),
            None => {
                let near = suggest::nearest(verb, VERBS);
                let help = near.map_or("see `opal module --help`".to_owned(), |near| {
                    format!("did you mean `opal module {near}`?")
                });
                Err(Failure::usage(format!("unknown command `opal module {verb}`"), help))
            }
        },
    }
}

fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let listed = module_roots::listed(&places(matches)?)?;
    view::list(&listed, context.out(), context.typed.wants_json())
}

fn show(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (places, module) = (places(matches)?, reference(matches)?);
    let json = context.typed.wants_json();
    let read = load::spec(&places, &module).map_err(|it| not_found(it, Exit::NoFile))?;
    let Some(spec) = whole(read, context, json)? else { return Ok(Exit::Source) };
    // What is kept of runs is told where it is; looking makes no root.
    let states =
        settings::root(context, matches).map(|root| root.states(&module)).unwrap_or_default();
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for path in states {
        match State::seen(&path) {
            Ok(state) => found.extend(state),
            Err(unkept) => warnings.push(unkept.to_string()),
        }
    }
    view::warnings(&warnings);
    view::show(&spec, &found, json)
}

fn validate(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (places, module) = (places(matches)?, reference(matches)?);
    let json = context.typed.wants_json();
    let Some(mut complete) = complete(context, &places, &module, json)? else {
        return Ok(Exit::Source);
    };
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let given = given(context, matches, &options.env_files)?;
    let Some(given) = given else { return Ok(Exit::Source) };
    settings::warn(context, &options.env_files, &places, None)?;
    let inputs = outlook(&complete.spec, &given, complete.schema.as_ref());
    let inputs = inputs.map_err(|it| invalid(&it))?;
    let unknown = complete.unknown(&given);
    if !json {
        view::warnings(&unknown);
    }
    complete.warnings.extend(unknown);
    view::valid(&complete, &inputs, json)
}

fn lint(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folders = matches.get_many::<PathBuf>("folders").into_iter().flatten();
    let all = module_roots::lint(folders.map(PathBuf::as_path))?;
    let counts = view::Counts {
        modules: all.modules,
        profiles: all.profiles,
        blueprints: all.blueprints,
        packs: all.packs,
    };
    let files: Vec<CheckedFile> = all.files.into_iter().map(CheckedFile::from).collect();
    view::lint(&files, &counts, context.out(), context.typed.wants_json())?;
    let has_errors = files.iter().any(|file| file.count(Severity::Error) > 0);
    Ok(if has_errors { Exit::Source } else { Exit::Done })
}
