//! `opal NAME`, `opal FILE.opl`: from what was typed to what is planned.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::Path;

use clap::{ArgMatches, Command};
use opal_config::Config;
use opal_core::Value;
use opal_ops::planning::Subject;
use opal_ops::source::Loaded;
use opal_ops::source::imports::Wanted;
use opal_plan::plan::Purpose;

use super::execute::{self, Errand};
use super::plan::{make, trust};
use super::{apply, command_line, config_file, help, of_projects, verify, watch};
use crate::arguments::asks_for_json;
use crate::context::Context;
use crate::failure::{Exit, Failure, Stopped};
use crate::options::{self, Asked};
use crate::planning;
use crate::project::{Chosen, DEFAULT_FILE};
use crate::projects::Target;
use crate::prompts::{self, Asks};
use crate::signals::Watched;
use crate::source::NotLoaded;
use crate::task_words::{Missing, Others, Typed, Words};
use crate::tasks::{self, Task};
use crate::verb::Verb;
use crate::{limit, project, projects, reports, source, task_words, view};

/// A task with the words behind its name.
pub(crate) fn run(
    context: &Context<'_>,
    loaded: &Loaded,
    task: &Task,
    rest: &[OsString],
    before: Asked,
    verb: Verb,
) -> Result<Exit, Failure> {
    let names = || tasks::of(loaded).into_iter().map(|task| task.name).collect();
    let mut subject =
        Subject { loaded, function: Some(task.name.clone()), arguments: BTreeMap::new() };
    let opal = || context.opal_for(loaded);
    let others = Others { names: &names, opal: &opal };
    let words = match task_words::sort(task, rest, verb.options(), &others) {
        Ok(Typed::Work(words)) => words,
        Ok(Typed::Missing(missing)) => match complete(context, &mut subject, task, missing, verb) {
            Ok(words) => words,
            Err(unanswered) => {
                let json = task.asks_for_json(rest);
                return unanswered.outcome().map_err(|failure| failure.in_json(json));
            }
        },
        Ok(Typed::ShortHelp) => return help::parameters(task, loaded, context),
        Ok(Typed::LongHelp) => return help::task(task, loaded, context, verb),
        // A mistake in the source is reported first: it may be what led to the other.
        Err(failure) => {
            return match planning::check(&subject, context, false) {
                Ok(_) => Err(failure.in_json(task.asks_for_json(rest))),
                Err(stopped) => stopped.outcome(),
            };
        }
    };
    let options = || Command::new(task.name.clone()).bin_name(task.command(&opal()));
    let matches = match options::parse(&options, &words.options, verb.options()) {
        Ok(matches) => matches,
        Err(error) => {
            let json = context.typed.wants_json() || task.asks_for_json(rest);
            return view::clap(&error, context.out(), json);
        }
    };
    subject.arguments = words.arguments;
    carry_out(context, &subject, &Asked::from(&matches)?.or(before), verb)
}

/// Asks for what is missing, where somebody can be asked, and shows the command line that results.
fn complete(
    context: &Context<'_>,
    subject: &mut Subject<'_>,
    task: &Task,
    Missing { mut words, failure }: Missing,
    verb: Verb,
) -> Result<Words, Stopped> {
    // A mistake in the source is reported first: it may be what led to the other.
    if subject.examine(&context.registry).is_err() {
        planning::check(subject, context, false)?;
    }
    let is_json = context.typed.wants_json() || task.asks_for_json(&words.options);
    if is_json || !prompts::can_ask(context) {
        return Err(failure.into());
    }
    prompts::ask(&mut prompts::terminal(context)?, task, Asks::Missing, &mut words.arguments)?;
    subject.arguments.clone_from(&words.arguments);
    let line = command_line::typed(context, subject, verb, &words.options);
    view::running(&line, context.err());
    Ok(words)
}

/// The top-level steps of a file; the words behind it are its arguments. A configuration takes none,
/// and behind a file that reads none they are options.
pub(crate) fn script(
    context: &Context<'_>,
    path: &Path,
    mut rest: &[OsString],
    mut asked: Asked,
    verb: Verb,
) -> Result<Exit, Failure> {
    if projects::is_tree(path) || path.join(DEFAULT_FILE).is_file() {
        let (opal, shown) = (context.opal(), path.display());
        let word = tasks::path_word(&shown.to_string());
        return Err(Failure::usage(
            format!("`{shown}` names projects, but no task"),
            format!("name a task: `{opal} {shown}:TASK`; `{opal} list {word}` lists them"),
        ));
    }
    let mut loaded = match source::read(&Chosen::named(path), &context.registry) {
        Ok(loaded) => loaded,
        Err(not_loaded) => return not_loaded.show(context.err(), false),
    };
    source::import(&mut loaded, Wanted::Target(None), &context.registry)?;
    if let (true, Some(word)) = (loaded.is_config(), rest.first()) {
        return Err(Failure::usage(
            format!("unexpected argument `{}`: a configuration takes no arguments", word.display()),
            format!("see `opal {} --help`", verb.name()),
        ));
    }
    if !rest.is_empty() && !loaded.reads_script_arguments() {
        let word = rest.first().filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
        if let Some(word) = word {
            return Err(Failure::usage(
                format!("`{}` takes no arguments, but got `{}`", loaded.name, word.display()),
                "arguments after the file are for `@args`, which it does not use",
            ));
        }
        let file = tasks::path_word(&path.display().to_string());
        let name = format!("{} {} {file}", context.opal(), verb.name());
        let options = || Command::new("opal").bin_name(&name);
        match options::parse(&options, rest, verb.options()) {
            Ok(matches) => asked = Asked::from(&matches)?.or(asked),
            Err(error) => return view::clap(&error, context.out(), asks_for_json(rest)),
        }
        rest = &[];
    }
    let mut words = Vec::new();
    for word in rest {
        let word = word
            .to_str()
            .ok_or_else(|| Failure::usage("an argument is not UTF-8", "give arguments in UTF-8"))?;
        words.push(Value::String(word.to_owned().into()));
    }
    if let Some(config) = loaded.config() {
        settings(config, &loaded.name, &mut asked, verb)?;
    }
    let arguments = BTreeMap::from([("args".to_owned(), Value::Array(words))]);
    let subject = Subject { loaded: &loaded, function: None, arguments };
    let ended = carry_out(context, &subject, &asked, verb);
    ended.map_err(|failure| failure.in_json(asked.plan.is_json()))
}

/// What a configuration asks for itself.
fn settings(config: &Config, name: &str, asked: &mut Asked, verb: Verb) -> Result<(), Failure> {
    asked.run.verbose |= config.settings.verbose && verb != Verb::Plan && !asked.run.quiet;
    if !config.settings.dry_run || asked.plan.dry_run {
        return Ok(());
    }
    match verb {
        Verb::Run => {
            asked.plan.dry_run = true;
            asked.for_preview("without `dry_run` in its `settings`")
        }
        Verb::Plan if asked.plan.is_for_contract() => Err(Failure::usage(
            format!("`{name}` has `dry_run: true`, but a contract is made to be run"),
            "remove `dry_run` from its `settings`: a plan changes nothing, only its run does",
        )),
        Verb::Watch => Err(Failure::usage(
            format!("`{name}` has `dry_run: true`, so no round would change anything"),
            "remove `dry_run` from its `settings`",
        )),
        Verb::Plan | Verb::Verify => Ok(()),
    }
}

/// Runs a configuration.
pub(crate) fn config(
    context: &Context<'_>,
    path: &Path,
    rest: &[OsString],
    asked: Asked,
) -> Result<Exit, Failure> {
    config_file::exit_of(script(context, path, rest, asked, Verb::Run))
}

pub(super) fn carry_out(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
    verb: Verb,
) -> Result<Exit, Failure> {
    if asked.plan.changed_since.is_some() && subject.loaded.selection.is_none() {
        return Err(Failure::usage(
            "`--changed-since` selects projects, but only one is named",
            "name a directory of projects: `opal DIR/...:TASK --changed-since REF`",
        ));
    }
    let on_targets;
    let subject = match &asked.plan.on {
        Some(_) if subject.loaded.is_config() || subject.loaded.selection.is_some() => {
            return Err(Failure::usage(
                "`--on` runs one task on other hosts",
                "name a task or a script: `opal TASK --on HOST`",
            ));
        }
        Some(targets) => {
            on_targets = subject.on(targets);
            &on_targets
        }
        None => subject,
    };
    let narrowed = limit::with_failed(context, asked, &record_target(subject))?;
    let asked = narrowed.as_ref().unwrap_or(asked);
    if verb == Verb::Watch {
        return watch::watch(context, subject, asked);
    }
    if verb == Verb::Verify {
        return verify::report::verify(context, subject, asked);
    }
    if verb == Verb::Run && asked.plan.dry_run && subject.loaded.is_config() {
        asked.for_preview("without `--dry-run`")?;
        return apply::preview::show(context, subject, asked);
    }
    if verb == Verb::Plan || asked.plan.dry_run {
        asked.for_plan()?;
        return make::plan(context, subject, asked);
    }
    asked.for_run()?;
    reports::around(context, &asked.run.reports, subject.target(), || {
        run_now(context, subject, asked)
    })
}

/// As records name what is run.
fn record_target(subject: &Subject<'_>) -> String {
    let file = || subject.loaded.path.file_name().map(|name| name.to_string_lossy().into_owned());
    subject.function.clone().or_else(file).unwrap_or_default()
}

/// Plans, and runs the plan.
fn run_now(context: &Context<'_>, subject: &Subject<'_>, asked: &Asked) -> Result<Exit, Failure> {
    let options = &asked.plan;
    let checked = match planning::check(subject, context, options.is_json()) {
        // The process ends soon after: it frees it all at once.
        Ok(checked) => ManuallyDrop::new(checked),
        Err(stopped) => return stopped.outcome(),
    };
    if !asked.run.quiet {
        planning::advise(subject, context, &checked);
    }
    let watched = Watched::begin()?.within(asked.run.timeout);
    let mut keys = planning::own_keys(subject, context, options);
    let aim = asked.aim(Purpose::Run);
    let planned = planning::plan(subject, context, &checked, options, aim, &mut keys, &watched);
    let resolved = match planned {
        Ok(resolved) => resolved,
        Err(stopped) => return stopped.outcome(),
    };
    if keys.drew() {
        trust::may_draw(context, options, &subject.loaded.policed())?;
    }
    let errand = Errand {
        share: None,
        subject,
        resolved: &resolved,
        watched: &watched,
        contract: None,
        claim: None,
        again: Some(command_line::resume(context, asked, subject)),
        keeper: None,
    };
    execute::execute(context, asked, &errand)
}

/// The target that was typed behind a command, with its arguments.
pub(crate) fn typed(
    context: &Context<'_>,
    matches: &ArgMatches,
    verb: Verb,
) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    let rest: Vec<OsString> = matches
        .get_many::<String>("arguments")
        .map(|all| all.map(OsString::from).collect())
        .unwrap_or_default();
    match matches.get_one::<String>("target") {
        Some(target) => resolve_target(context, target, matches, &rest, asked, verb),
        None => {
            let name = verb.name();
            let help = format!("see `opal {name} --help`");
            Err(Failure::usage(format!("`opal {name}` needs a target"), help))
        }
    }
}

/// Refuses `-g` for a file: it is the source itself.
pub(crate) fn not_global(file: &str, is_global: bool) -> Result<(), Failure> {
    match is_global {
        true => Err(Failure::usage(
            format!("`-g` is for tasks, but `{file}` is a file"),
            "omit `-g`, or name a task of `-g`; `opal -g` lists them",
        )),
        false => Ok(()),
    }
}

/// A function or a file, by its name.
fn resolve_target(
    context: &Context<'_>,
    target: &str,
    matches: &ArgMatches,
    rest: &[OsString],
    asked: Asked,
    verb: Verb,
) -> Result<Exit, Failure> {
    if verb == Verb::Run && project::is_config(Path::new(target)) {
        return config(context, Path::new(target), rest, asked);
    }
    if let Some(target) = Target::parse(target) {
        of_projects::alone(context.file(matches), context.is_global(matches))?;
        return of_projects::run(context, &target, rest, asked, verb);
    }
    if project::is_file(target) {
        not_global(target, context.is_global(matches))?;
        return script(context, Path::new(target), rest, asked, verb);
    }
    let chosen = context.needed(Some(matches))?;
    let mut loaded = source::read(&chosen, &context.registry).map_err(NotLoaded::into_failure)?;
    match source::task(&mut loaded, target, &context.registry)? {
        Some(task) => run(context, &loaded, &task, rest, asked, verb),
        None => {
            let tasks = source::all_tasks(&mut loaded, &context.registry)?;
            let names = tasks.iter().map(|task| task.name.as_str());
            let (opal, name) = (context.opal_for(&loaded), verb.name());
            let contract = tasks::path_word(target);
            let help = match opal_core::suggest::nearest(target, names) {
                _ if target.ends_with(".plan") && verb == Verb::Run => {
                    format!("run a contract with `{} run --plan {contract}`", context.opal())
                }
                _ if target.ends_with(".plan") && verb == Verb::Watch => {
                    format!(
                        "a contract is not watched; run it with `{} run --plan {contract}`",
                        context.opal()
                    )
                }
                _ if target.ends_with(".plan") => {
                    let verb = if verb == Verb::Plan { "show" } else { "verify" };
                    format!("for a contract, use `{} plan {verb} {contract}`", context.opal())
                }
                Some(near) => format!("did you mean `{opal} {name} {near}`?"),
                None => format!(
                    "list the tasks with `{opal}`; the name of a file ends in .opl or contains a `/`"
                ),
            };
            let failure = Failure::usage(format!("unknown task `{target}`"), help);
            Err(source::unknown_task(failure, &loaded, &context.check_command(&loaded)))
        }
    }
}
