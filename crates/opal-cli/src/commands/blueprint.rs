//! `opal blueprint`: modules in order, each a run of its own.
//!
//! A step is prepared when its turn comes: what it imports is known only then.

mod reporting;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_modules::inputs::Given;
use opal_modules::keep::State;
use opal_modules::load;
use opal_modules::run::Command;
use opal_modules::run::{Prepared, Unprepared, Wanted, prepare};
use opal_modules::{Blueprint, Name, Step};
use opal_ops::blueprint::{self, Done, Fate, Outcome, Progress, Stop, order};

use super::module::basis::basis;
use super::module::complete::complete;
use super::module::faults::whole;
use super::module::inputs::given_with;
use super::module::job::Job;
use super::module::run as module;
use super::module::settings::Settings;
use crate::context::Context;
use crate::failure::module::{not_found, unwritten};
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::reports;
use crate::signals::Watched;
use crate::view::blueprint as view;
use crate::view::module::warnings as show;
use reporting::Reporting;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some((verb, matches)) = matches.subcommand() else {
        let help = "see `opal blueprint --help`";
        return Err(Failure::usage("`opal blueprint` needs a command", help));
    };
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    if verb != "apply" || asked.plan.dry_run {
        return of_command(context, matches, verb, &asked);
    }
    reports::around(context, &asked.run.reports, named(matches), || {
        of_command(context, matches, verb, &asked)
    })
}

fn of_command(
    context: &Context<'_>,
    matches: &ArgMatches,
    verb: &str,
    asked: &Asked,
) -> Result<Exit, Failure> {
    let mut settings = Settings::read(context, matches)?;
    settings.said = given_with(context, None, &asked.plan.env_files, false)?.unwrap_or_default();
    settings.warn(context, &asked.plan.env_files)?;
    let json = context.typed.wants_json();
    let Some(Named { blueprint, warnings }) = read(context, matches, &settings, json)? else {
        return Ok(Exit::Source);
    };
    let steps = order(&blueprint.steps);
    match verb {
        "validate" => validate(context, &settings, &blueprint, warnings, json),
        "apply" if !asked.plan.dry_run => {
            settings.gathered = json.then(RefCell::default);
            apply(context, asked, &settings, &blueprint, &steps)
        }
        _ => plan(context, asked, &settings, &blueprint, &steps),
    }
}

/// What was typed.
fn named(matches: &ArgMatches) -> &str {
    matches.get_one::<String>("blueprint").map_or("", String::as_str)
}

/// The blueprint that was named.
struct Named {
    blueprint: Blueprint,
    /// What is not as it should be in it.
    warnings: Vec<String>,
}

/// Reads it by its file or by its reference; none where its faults have been shown.
fn read(
    context: &Context<'_>,
    matches: &ArgMatches,
    settings: &Settings,
    json: bool,
) -> Result<Option<Named>, Failure> {
    let named = named(matches);
    let path = match Path::new(named) {
        path if path.is_file() => path.to_path_buf(),
        path if path.is_dir() => path.join(FILE),
        _ => {
            let name = Name::parse(named, "blueprint")
                .map_err(|no| Failure::usage(no.message, no.help))?;
            folder(matches, settings).join(name.path()).join(FILE)
        }
    };
    let read = load::blueprint(&path).map_err(|missing| {
        not_found(missing, Exit::NoFile)
            .help("name its file, or its reference below `--blueprints-root DIR`")
    })?;
    let warnings = opal_ops::module::messages(&read.checked.diagnostics);
    Ok(whole(read, context, json)?.map(|blueprint| Named { blueprint, warnings }))
}

const FILE: &str = "blueprint.yml";

fn folder(matches: &ArgMatches, settings: &Settings) -> PathBuf {
    let typed = matches.get_one::<PathBuf>("blueprints-root").cloned();
    typed.unwrap_or_else(|| settings.places.modules.join("..").join("blueprints"))
}

fn validate(
    context: &Context<'_>,
    settings: &Settings,
    blueprint: &Blueprint,
    mut warnings: Vec<String>,
    json: bool,
) -> Result<Exit, Failure> {
    for step in &blueprint.steps {
        let found = complete(context, &settings.places, &step.module_ref, json);
        let of_step = |failure: Failure| failure.help(format!("the step `{}` names it", step.id));
        let Some(found) = found.map_err(of_step)? else { return Ok(Exit::Source) };
        let slips = view::slips(step, &found.typos(&step.inputs));
        if !json {
            show(&slips);
        }
        let of_module = found.warnings.iter().map(|told| format!("`{}`: {told}", step.module_ref));
        for warning in of_module.chain(slips) {
            // A module may be there in several steps.
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    view::valid(blueprint, &warnings, json)
}

fn plan(
    context: &Context<'_>,
    asked: &Asked,
    settings: &Settings,
    blueprint: &Blueprint,
    steps: &[&Step],
) -> Result<Exit, Failure> {
    let mut fates = Vec::new();
    for step in steps {
        let fate = match is_done(context, asked, settings, step)? {
            true => Fate::Skip,
            false => fate(settings, step)?,
        };
        fates.push((*step, fate));
    }
    view::plan(blueprint, &fates, context.typed.wants_json())
}

/// A step, as it would run now.
fn prepared(settings: &Settings, step: &Step) -> Result<Prepared, Unprepared> {
    prepare(Wanted {
        command: step.action,
        module: &step.module_ref,
        instance: step.state_instance.as_ref(),
        places: &settings.places,
        root: &settings.root,
        given: said(settings, step),
        is_named: false,
        programs: &settings.programs,
    })
}

fn fate(settings: &Settings, step: &Step) -> Result<Fate, Failure> {
    Ok(match prepared(settings, step) {
        Ok(prepared) => {
            let tools = prepared.tools().map(|tool| tool.words.join(" ")).collect();
            Fate::Run { tools }
        }
        Err(Unprepared::Dependency(missing)) => Fate::Open(missing.message),
        Err(Unprepared::Missing(missing)) if !settings.is_there(&step.module_ref) => {
            let failure = not_found(missing, Exit::NoFile);
            return Err(failure.help(format!("the step `{}` names it", step.id)));
        }
        Err(Unprepared::Missing(missing)) => Fate::Open(missing.message),
        Err(Unprepared::Inputs(invalid)) => Fate::Open(invalid.to_string()),
        Err(Unprepared::Faults { path, .. }) => {
            Fate::Open(format!("`{}` has errors; see `opal module lint`", path.display()))
        }
    })
}

/// What the step says, and what variables say to every module.
fn said(settings: &Settings, step: &Step) -> Given {
    Given { file: step.inputs.clone(), ..settings.said.clone() }
}

/// Whether a step need not run.
fn is_done(
    context: &Context<'_>,
    asked: &Asked,
    settings: &Settings,
    step: &Step,
) -> Result<bool, Failure> {
    let state = || {
        let path = settings.root.state(&step.module_ref, step.state_instance.as_ref());
        State::seen(&path).map_err(|unkept| unwritten(&unkept))
    };
    blueprint::is_done(step, state, || match prepared(settings, step) {
        Ok(prepared) => basis(context, &asked.plan, &prepared),
        Err(_) => Ok(None),
    })
}

fn apply(
    context: &Context<'_>,
    asked: &Asked,
    settings: &Settings,
    blueprint: &Blueprint,
    steps: &[&Step],
) -> Result<Exit, Failure> {
    let watched = module::watched(asked)?;
    let mut reporting = Reporting::begin(context, asked)?;
    let mut progress = Progress::new(blueprint.fail_fast);
    let mut failure = None;
    for step in steps {
        // A step that took Ctrl+C for its success is still the last.
        progress.stop(over(&watched));
        if progress.is_barred(step) {
            progress.end(step, Done::NotRun);
            reporting.step(step, Done::NotRun, None);
        } else if is_done(context, asked, settings, step)? {
            view::step(step, Done::Skipped.name());
            progress.end(step, Done::Skipped);
            reporting.step(step, Done::Skipped, None);
        } else {
            view::step(step, step.action.name());
            let said = said(settings, step);
            let job = Job::along(step.module_ref.clone(), step.action, said);
            let job = Job { instance: step.state_instance.clone(), ..job };
            let ran = match step.with_deps {
                true => module::with_deps(context, asked, settings, job, &watched),
                false => module::one(context, asked, settings, job, &watched),
            };
            let done = done(step, &ran, watched.exit());
            let counts = progress.end(step, done);
            reporting.step(step, done, ran.as_ref().err().map(|why| &*why.message));
            match ran {
                Err(why) if !counts => view::step(step, &format!("failed: {}", why.message)),
                ran if counts && matches!(done, Done::Failed | Done::Cancelled) => {
                    failure.get_or_insert((*step, ran));
                }
                _ => {}
            }
        }
    }
    // A step that may fail may not be cut off.
    if progress.is_cut_short() {
        progress.stop(over(&watched));
    }
    let failure = failure.map(|(step, ran)| {
        let named =
            |why: Failure| why.help(format!("it is the step `{}` of the blueprint", step.id));
        (step, ran.map_err(named))
    });
    let outcome = progress.outcome();
    let runs = settings.gathered.as_ref().map(RefCell::take);
    let ended = view::Ended {
        steps: progress.ended(),
        differs: progress.differs(),
        is_cancelled: outcome == Outcome::Stopped(Stop::Cancelled),
        error: error(outcome, failure.as_ref()),
    };
    let unreported = reporting.write(blueprint, &ended);
    view::ended(blueprint, &ended, runs)?;
    match (outcome, failure) {
        (Outcome::Stopped(Stop::Cancelled), _) => Ok(watched.exit().unwrap_or(Exit::Step(130))),
        (Outcome::Stopped(Stop::TimedOut), _) => Ok(Exit::Step(124)),
        (Outcome::Failed, Some((_, ran))) => ran,
        (Outcome::Differs, _) => Ok(Exit::Differs),
        (Outcome::Ok | Outcome::Failed, _) => Ok(unreported.unwrap_or(Exit::Done)),
    }
}

/// Why nothing more begins.
fn over(watched: &Watched) -> Option<Stop> {
    match (watched.exit(), watched.stop().why()) {
        (Some(_), _) => Some(Stop::Cancelled),
        (None, Some(_)) => Some(Stop::TimedOut),
        (None, None) => None,
    }
}

/// How a step has ended; a run that was stopped ends with the code of the `signal`.
fn done(step: &Step, ran: &Result<Exit, Failure>, signal: Option<Exit>) -> Done {
    match ran {
        Ok(exit) if exit.code() == 0 => Done::Ok,
        Ok(exit) if signal.is_some_and(|signal| signal.code() == exit.code()) => Done::Cancelled,
        Ok(exit) if step.action == Command::Verify && exit.code() == Exit::Differs.code() => {
            Done::Differs
        }
        _ => Done::Failed,
    }
}

/// What has failed, and the way forward; none where nothing has.
fn error(
    outcome: Outcome,
    failure: Option<&(&Step, Result<Exit, Failure>)>,
) -> Option<view::Error> {
    let stopped = |message: &str| {
        let help = "run it again to continue with the steps that are not done";
        Some(view::Error { message: message.to_owned(), help: vec![help.to_owned()] })
    };
    match (outcome, failure) {
        (Outcome::Stopped(Stop::Cancelled), _) => stopped("it was interrupted"),
        (Outcome::Stopped(Stop::TimedOut), _) => stopped("the run timed out"),
        (_, None) => None,
        (_, Some((_, Err(failure)))) => {
            Some(view::Error { message: failure.message.clone(), help: failure.help.clone() })
        }
        (_, Some((step, Ok(exit)))) => Some(view::Error {
            message: format!("the step `{}` ended with {}", step.id, exit.code()),
            help: vec!["its evidence is named among `runs`".to_owned()],
        }),
    }
}
