//! Which command runs.
//!
//! A reserved name always means opal: reading a stranger's repository never runs it. Any other name
//! is first a function of the project, so that a new built-in never changes what a task does. `self`
//! reaches the built-in, `run` the function.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::OnceLock;

use clap::ArgMatches;
use opal_core::suggest;

use crate::ambient::Ambient;
use crate::arguments::{Typed, asks_for_json};
use crate::commands::task;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::projects::Target;
use crate::source::NotLoaded;
use crate::task_words::variable_before;
use crate::tasks::{Task, quoted};
use crate::verb::Verb;
use crate::{builtins, commands, program, project, source, view};

/// What only `opal-commands` has, which provides it.
pub(crate) struct Rest {
    pub(crate) command: fn(&Context<'_>, &str, &ArgMatches) -> Result<Exit, Failure>,
    pub(crate) hyops: fn(&Typed, &Ambient) -> Result<Exit, Failure>,
    pub(crate) completed: fn(&Ambient) -> Result<Exit, Failure>,
}

pub(crate) static REST: OnceLock<Rest> = OnceLock::new();

/// Another program has gone on, or this one has it all.
fn rest(ambient: &Ambient) -> Result<&'static Rest, Failure> {
    program::complete(ambient)?;
    Ok(REST.get().expect("who has all commands provides them first"))
}

/// `hyops`: the commands for modules and blueprints at the top.
pub(crate) fn hyops(typed: &Typed, ambient: &Ambient) -> Result<Exit, Failure> {
    (rest(ambient)?.hyops)(typed, ambient)
}

/// A shell asks for completions.
pub(crate) fn completed(ambient: &Ambient) -> Result<Exit, Failure> {
    (rest(ambient)?.completed)(ambient)
}

pub(crate) fn run(typed: &Typed, ambient: &Ambient) -> Result<Exit, Failure> {
    if !typed.directories.is_empty()
        && let Ok(here) = std::env::current_dir()
    {
        let _ = ambient.began_in.set(here);
    }
    project::enter(&typed.directories)?;
    let context = Context::new(typed, ambient);
    if typed.version {
        return view::print(concat!("opal ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    if typed.help {
        return commands::help::opal(&context);
    }
    match &typed.word {
        _ if typed.list => commands::list::listed(&context),
        None => commands::list::bare(&context),
        Some(name) => word(&context, name),
    }
}

/// The command, the task or the file that was named.
fn word(context: &Context<'_>, word: &str) -> Result<Exit, Failure> {
    if builtins::is_reserved(word) {
        return builtin(context, word, &context.typed.rest);
    }
    if project::is_config(Path::new(word)) {
        let words: Vec<OsString> =
            [word.into()].into_iter().chain(context.typed.rest.iter().cloned()).collect();
        return builtin(context, "apply", &words);
    }
    if let Some(target) = Target::parse(word) {
        let before = Asked::before(&context.typed.before)?;
        let rest = &context.typed.rest;
        commands::of_projects::alone(context.typed.file.as_ref(), context.typed.global)?;
        let ran = commands::of_projects::run(context, &target, rest, before, Verb::Run);
        return ran.map_err(|failure| failure.in_json(asks_for_json(rest)));
    }
    if project::is_file(word) {
        commands::task::not_global(word, context.typed.global)?;
        let before = Asked::before(&context.typed.before)?;
        let path = Path::new(word);
        return commands::task::script(context, path, &context.typed.rest, before, Verb::Run);
    }
    let mut project = match context.project() {
        // The process ends soon after; taking a large file apart again would only take time.
        Ok(project) => project.map(ManuallyDrop::new),
        Err(not_loaded) => {
            return not_loaded.show(context.err(), asks_for_json(&context.typed.rest));
        }
    };
    let task = match &mut project {
        Some(loaded) => source::task(loaded, word, &context.registry)
            .map_err(|failure| failure.in_json(asks_for_json(&context.typed.rest)))?,
        None => None,
    };
    if let (Some(loaded), Some(task)) = (&project, task) {
        let before = Asked::before(&context.typed.before)?;
        let rest = &context.typed.rest;
        let ran = commands::task::run(context, loaded, &task, rest, before, Verb::Run);
        return ran.map_err(|failure| failure.in_json(task.asks_for_json(rest)));
    }
    if builtins::is_builtin(word) {
        return builtin(context, word, &context.typed.rest);
    }
    if let Some(loaded) = &project
        && let Some(foreign) = loaded.foreign(&context.registry)
    {
        view::check::advice(loaded, vec![foreign], context.err());
        return Ok(Exit::Source);
    }
    let tasks = project.as_deref_mut().map(|loaded| source::all_tasks(loaded, &context.registry));
    let tasks = tasks.transpose()?;
    let opal = project.as_deref().map_or_else(|| context.opal(), |it| context.opal_for(it));
    let mut failure = unknown(context, word, tasks.as_deref(), &opal);
    if let Some(loaded) = &project {
        failure = source::unknown_task(failure, loaded, &context.check_command(loaded));
    }
    Err(failure.in_json(asks_for_json(&context.typed.rest)))
}

/// A built-in command with its arguments. A failure is JSON where that is asked for.
fn builtin(context: &Context<'_>, word: &str, rest: &[OsString]) -> Result<Exit, Failure> {
    let ended = command(context, word, rest);
    let yields = !builtins::is_reserved(word);
    ended.map_err(|failure| failure.in_json(yields && asks_for_json(rest)))
}

fn command(context: &Context<'_>, word: &str, rest: &[OsString]) -> Result<Exit, Failure> {
    let first = rest.first().and_then(|first| first.to_str());
    match (word, first.filter(|first| !first.starts_with('-'))) {
        ("self", Some("syntax")) => return syntax(context, &rest[1..]),
        ("self", Some(name)) => return builtin(context, name, &rest[1..]),
        _ => {}
    }
    program::complete_for(context.ambient, word, rest)?;
    let json = context.typed.wants_json() || asks_for_json(rest);
    let Some(command) = builtins::command(word) else {
        let near = suggest::nearest(word, builtins::NAMES);
        let help =
            near.map_or("see `opal --help`".into(), |near| format!("did you mean `{near}`?"));
        return Err(Failure::usage(format!("`{word}` is not a built-in command"), help));
    };
    let command = command.bin_name(format!("opal {word}")).no_binary_name(true);
    if word == "plan" {
        not_of_plan(&command, rest, &context.opal_typed())?;
    }
    let marked = matches!(word, "plan" | "run" | "verify" | "watch")
        .then(|| builtins::marked(&command, rest));
    let matches = match command.try_get_matches_from(marked.as_deref().unwrap_or(rest)) {
        Ok(matches) => matches,
        Err(error) => return view::clap(&error, context.out(), json),
    };
    match word {
        "apply" => commands::apply::run(context, &matches),
        "check" => commands::check::run(context, &matches),
        "fmt" => commands::fmt::run(context, &matches),
        "list" => commands::list::run(context, &matches),
        "plan" if matches.subcommand().is_none() => task::typed(context, &matches, Verb::Plan),
        "run" => commands::run::run(context, &matches),
        "dispatch" => commands::queue::dispatch(context, &matches),
        "runner" => commands::queue::runner(context, &matches),
        "lsp" => commands::lsp::run(context),
        "mcp" => commands::mcp::run(context, &matches),
        "ui" => commands::ui::run(context, &matches),
        "verify" => commands::verify::run(context, &matches),
        "help" => help(context, &matches),
        // `self` without a target has been refused by its own arguments.
        "self" => commands::help::opal(context),
        _ => (self::rest(context.ambient)?.command)(context, word, &matches),
    }
}

/// `opal` are the first words of a command for a task of the project.
fn unknown(context: &Context<'_>, word: &str, tasks: Option<&[Task]>, opal: &str) -> Failure {
    let rest: Vec<String> =
        context.typed.rest.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let command = [opal.to_owned()].into_iter().chain(rest).collect::<Vec<_>>().join(" ");
    if let Some(help) = variable_before(word, &command) {
        return Failure::usage(format!("unknown task or command `{word}`"), help);
    }
    let names = tasks.unwrap_or_default().iter().map(|task| task.name.as_str());
    let near = suggest::nearest(word, names.chain(builtins::NAMES));
    let mut failure = Failure::usage(
        format!("unknown task or command `{word}`"),
        near.map_or(format!("list the tasks with `{opal}`"), |near| {
            format!("did you mean `{near}`?")
        }),
    );
    if tasks.is_none() {
        let file = project::DEFAULT_FILE;
        failure = failure.help(format!("no `{file}` here or in a parent directory"));
    }
    failure
}

/// `opal help NAME`.
fn help(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some(name) = matches.get_one::<String>("name") else {
        return commands::help::opal(context);
    };
    if builtins::is_reserved(name) {
        return builtin(context, name, &["--help".into()]);
    }
    let mut project = context.project().map_err(NotLoaded::into_failure)?;
    let task = project.as_mut().map(|loaded| source::task(loaded, name, &context.registry));
    match (task.transpose()?.flatten(), &project) {
        (Some(task), Some(loaded)) => commands::help::task(&task, loaded, context, Verb::Run),
        _ => builtin(context, name, &["--help".into()]),
    }
}

/// `opal self syntax`, which has no name of its own: it takes none from a task.
fn syntax(context: &Context<'_>, rest: &[OsString]) -> Result<Exit, Failure> {
    let command = builtins::syntax().bin_name("opal self syntax").no_binary_name(true);
    match command.try_get_matches_from(rest) {
        Ok(matches) => commands::syntax::run(context, &matches),
        Err(error) => {
            let json = context.typed.wants_json() || asks_for_json(rest);
            view::clap(&error, context.out(), json)
        }
    }
}

/// Refuses a command of `opal plan` after an option: it is not a function.
fn not_of_plan(command: &clap::Command, rest: &[OsString], opal: &str) -> Result<(), Failure> {
    let Some((at, word)) = builtins::target(command, rest) else { return Ok(()) };
    let is_command = at == 0 && command.find_subcommand(word).is_some();
    if is_command || !builtins::is_reserved_by_plan(word) {
        return Ok(());
    }
    Err(Failure::usage(
        format!("options of `opal plan {word}` come after `{word}`"),
        format!("plan a function of this name with `{opal} plan -- {word}`"),
    ))
}
