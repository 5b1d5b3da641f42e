//! A run of one module: prepared, planned, and shown, kept as a contract, or executed.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;
use opal_modules::inputs;
use opal_modules::keep::{Lock, NoLock};
use opal_modules::load;
use opal_modules::run::{Command, Run};
use opal_ops::planning::Subject;
use opal_plan::plan::Purpose;

use super::inputs::{given, instance, reference};
use super::job::Job;
use super::keeper::Keeping;
use super::settings::Settings;
use super::source;
use super::{approval, order};
use crate::commands::execute::{self, Errand};
use crate::commands::plan::make;
use crate::context::Context;
use crate::failure::module::{invalid, not_found, unwritten};
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning;
use crate::reports;
use crate::signals::Watched;
use crate::view::module as view;

/// How long tools have to end once they are asked to: who makes something elsewhere has to wait for it,
/// or nobody knows of it afterwards.
const GRACE: Duration = Duration::from_mins(10);

/// `opal module apply REF` and its like.
pub(crate) fn run(
    context: &Context<'_>,
    matches: &ArgMatches,
    command: Command,
) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    if asked.plan.dry_run {
        return of_command(context, matches, command, &asked);
    }
    let name = reference(matches)?.to_string();
    reports::around(context, &asked.run.reports, &name, || {
        of_command(context, matches, command, &asked)
    })
}

fn of_command(
    context: &Context<'_>,
    matches: &ArgMatches,
    command: Command,
    asked: &Asked,
) -> Result<Exit, Failure> {
    let mut settings = Settings::read(context, matches)?;
    let given = given(context, matches, &asked.plan.env_files)?;
    let Some(given) = given else { return Ok(Exit::Source) };
    settings.warn(context, &asked.plan.env_files)?;
    settings.asks = approval::is_asked(context, asked);
    let file = matches.get_one::<PathBuf>("inputs");
    let job = Job {
        module: reference(matches)?,
        command,
        instance: instance(matches)?,
        given,
        file: file.map(|path| path.display().to_string()),
        env_files: asked.plan.env_files.clone(),
        is_named: true,
    };
    let watched = watched(asked)?;
    let is_set = matches.try_get_one::<bool>("with-deps").ok().flatten().copied();
    if !is_set.unwrap_or(false) {
        return one(context, asked, &settings, job, &watched);
    }
    settings.gathered = asked.plan.is_json().then(RefCell::default);
    let module = job.module.clone();
    let began = crate::clock::now();
    context.reported.gather();
    let ran = with_deps(context, asked, &settings, job, &watched);
    let exit = ran.as_ref().copied().unwrap_or(Exit::Source);
    let unreported = reports::join(context, &asked.run.reports, module.as_str(), began, &|runs| {
        view::with_deps_json(&module, command, runs, exit)
    })?;
    let exit = ran?;
    if let Some(runs) = settings.gathered {
        view::with_deps(&module, command, runs.into_inner(), exit)?;
    }
    Ok(if exit.code() == 0 { unreported.unwrap_or(exit) } else { exit })
}

/// Who hears of Ctrl+C and of the end of the time, for all runs of one command; where nothing runs, Ctrl+C
/// ends opal itself.
pub(crate) fn watched(asked: &Asked) -> Result<Watched, Failure> {
    let watched = if asked.plan.dry_run { Watched::nothing() } else { Watched::begin()? };
    watched.be_patient(GRACE);
    Ok(watched.within(asked.run.timeout))
}

/// Runs a module, and before it what it builds on.
pub(crate) fn with_deps(
    context: &Context<'_>,
    asked: &Asked,
    settings: &Settings,
    job: Job,
    watched: &Watched,
) -> Result<Exit, Failure> {
    fit(settings, &job)?;
    match order::before(context, asked, settings, &job, watched) {
        Ok(()) => one(context, asked, settings, job, watched),
        Err(stopped) => stopped.outcome(),
    }
}

/// Refuses inputs that could never do, before anything that the module builds on is applied. What is
/// imported is not known yet, so nothing is missing.
fn fit(settings: &Settings, job: &Job) -> Result<(), Failure> {
    let missing = |it| not_found(it, Exit::NoFile);
    let read = load::spec(&settings.places, &job.module).map_err(missing)?;
    // What is wrong with it is shown by who needs all of it.
    let Some(spec) = read.checked.found else { return Ok(()) };
    inputs::foreseen(&spec, &job.given).map_err(|it| invalid(&it))
}

/// Runs one module, or shows the plan of that.
pub(crate) fn one(
    context: &Context<'_>,
    asked: &Asked,
    settings: &Settings,
    job: Job,
    watched: &Watched,
) -> Result<Exit, Failure> {
    runs_whole(asked)?;
    let Some(source) = source::load(context, settings, job, asked.plan.is_json())? else {
        return Ok(Exit::Source);
    };
    let (context, loaded) = (&source.context, &source.loaded);
    let subject = Subject { loaded, function: None, arguments: source.arguments };
    if asked.plan.dry_run {
        asked.for_plan()?;
        if !asked.plan.is_json() {
            view::warnings(&source.run.prepared.warnings);
        }
        return make::plan(context, &subject, asked);
    }
    asked.for_run()?;
    // Nobody else changes this module until the end.
    let _lock = ready(settings, &source.run)?;
    let checked = match planning::check(&subject, context, asked.plan.is_json()) {
        Ok(checked) => checked,
        Err(stopped) => return stopped.outcome(),
    };
    let mut keys = planning::own_keys(&subject, context, &asked.plan);
    let aim = asked.aim(Purpose::Run);
    let planned = planning::plan(&subject, context, &checked, &asked.plan, aim, &mut keys, watched);
    let resolved = match planned {
        Ok(resolved) => resolved,
        Err(stopped) => return stopped.outcome(),
    };
    if settings.asks && source.run.prepared.command.changes() {
        let shown = planning::view(&resolved, &keys, context, false);
        if let Some(exit) = approval::ask(context, &source.run, &shown, watched)? {
            return Ok(exit);
        }
    }
    let keeper = Keeping::new(context, asked, settings, &source.run, watched);
    let errand = Errand {
        share: None,
        subject: &subject,
        resolved: &resolved,
        watched,
        contract: None,
        claim: None,
        again: None,
        keeper: Some(&keeper),
    };
    execute::execute(context, asked, &errand)
}

/// Refuses what would begin in the middle.
pub(crate) fn runs_whole(asked: &Asked) -> Result<(), Failure> {
    match asked.run.of_a_source() {
        Some(option) => Err(Failure::usage(
            format!(
                "`{option}` applies only to tasks: a module always runs completely, in its own directory"
            ),
            "omit it",
        )),
        None => Ok(()),
    }
}

/// Makes the directories of the runtime root, and sees to it that a module is changed by one at a time.
pub(crate) fn ready(settings: &Settings, run: &Run) -> Result<Option<Lock>, Failure> {
    settings.root.ensure().map_err(|unkept| unwritten(&unkept))?;
    if !run.prepared.command.changes() {
        return Ok(None);
    }
    Lock::take(&run.prepared.state()).map(Some).map_err(|no| match no {
        NoLock::Busy(_) => Failure::new(Exit::Unavailable, no.to_string(), no.help()),
        NoLock::Unkept(unkept) => unwritten(&unkept),
    })
}
