//! `opal NAME`, `opal FILE.opl`: from what was typed to what is planned.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use opal_core::Value;

use super::plan;
use crate::dispatch::{Context, is_file};
use crate::failure::{Exit, Failure};
use crate::options::{self, PlanOptions};
use crate::planning::Subject;
use crate::source::{Loaded, NotLoaded};
use crate::tasks::{self, Task};
use crate::{project, task_arguments, view};

/// What is wanted of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Run,
    Plan,
}

/// A task with the words behind its name.
pub(crate) fn run(
    context: &Context<'_>,
    loaded: &Loaded,
    task: &Task,
    rest: &[OsString],
    before: PlanOptions,
    wish: Wish,
) -> Result<Exit, Failure> {
    let mut before_end = rest.iter().take_while(|argument| *argument != "--");
    let wants_help = before_end.any(|argument| argument == "--help" || argument == "-h");
    if wants_help && !task.has_flag("help") {
        return help(task, context);
    }
    let mut subject =
        Subject { loaded, function: Some(task.name.clone()), arguments: BTreeMap::new() };
    let command = options::behind(tasks::command(task)).no_binary_name(true);
    let matches = match command.try_get_matches_from(rest) {
        Ok(matches) => matches,
        // A mistake in the source is told first: it may be what led to the other.
        Err(error) => {
            return match subject.check(context, false)? {
                Ok(_) => view::clap(&error, context),
                Err(exit) => Ok(exit),
            };
        }
    };
    subject.arguments = task_arguments::given(task, &matches);
    let options = PlanOptions::from(&matches)?.or(before);
    let outcome = carry_out(context, &subject, &options, wish);
    outcome.map_err(|failure| {
        if task.hides_builtin() && failure.exit == Exit::Unavailable {
            return failure.help(format!("for the built-in, write `opal self {}`", task.name));
        }
        failure
    })
}

/// The top-level steps of a file; the words behind it are its arguments.
pub(crate) fn script(
    context: &Context<'_>,
    path: &Path,
    rest: &[OsString],
    options: &PlanOptions,
    wish: Wish,
) -> Result<Exit, Failure> {
    let loaded = match Loaded::read(path, &context.registry) {
        Ok(loaded) => loaded,
        Err(NotLoaded::Failure(failure)) => return Err(failure),
        Err(NotLoaded::NoText { name, found }) => {
            view::check::not_text(name, *found, context)?;
            return Ok(Exit::Source);
        }
    };
    let mut words = Vec::new();
    for word in rest {
        let word = word
            .to_str()
            .ok_or_else(|| Failure::usage("an argument is not UTF-8", "give arguments in UTF-8"))?;
        words.push(Value::String(word.to_owned().into()));
    }
    let arguments = BTreeMap::from([("args".to_owned(), Value::Array(words))]);
    let subject = Subject { loaded: &loaded, function: None, arguments };
    carry_out(context, &subject, options, wish)
}

fn carry_out(
    context: &Context<'_>,
    subject: &Subject<'_>,
    options: &PlanOptions,
    wish: Wish,
) -> Result<Exit, Failure> {
    if wish == Wish::Plan || options.dry_run {
        return plan::plan(context, subject, options);
    }
    let lone = [
        (options.resolve, "--resolve"),
        (options.output.is_some(), "--output"),
        (options.format.is_some(), "--format"),
    ];
    let lone = lone.into_iter().find_map(|(given, name)| given.then_some(name));
    if let Some(option) = lone.or(options.contract_only()) {
        return Err(Failure::usage(
            format!("`{option}` belongs to a plan"),
            "add `--dry-run`, or write `opal plan TASK`",
        ));
    }
    if let Err(exit) = subject.check(context, false)? {
        return Ok(exit);
    }
    Err(Failure::new(
        Exit::Unavailable,
        format!("{} has no errors, but running is not part of this version", named(subject)),
        "`--dry-run` shows what would run; see CHANGELOG.md for what comes next",
    ))
}

fn named(subject: &Subject<'_>) -> String {
    match &subject.function {
        Some(name) => format!("the task `{name}`"),
        None => "the script".to_owned(),
    }
}

pub(crate) fn help(task: &Task, context: &Context<'_>) -> Result<Exit, Failure> {
    view::help(&options::behind(tasks::command(task)).render_long_help(), context)
}

/// A function or a file, by its name.
pub(crate) fn resolve_target(
    context: &Context<'_>,
    target: &str,
    file: Option<&PathBuf>,
    rest: &[OsString],
    options: PlanOptions,
    wish: Wish,
) -> Result<Exit, Failure> {
    if is_file(target) {
        return script(context, Path::new(target), rest, &options, wish);
    }
    let path = project::file_or_project(file)?;
    let loaded = Loaded::read(&path, &context.registry).map_err(NotLoaded::into_failure)?;
    match loaded.task(target) {
        Some(task) => run(context, &loaded, &task, rest, options, wish),
        None => {
            let tasks = loaded.tasks();
            let names = tasks.iter().map(|task| task.name.as_str());
            let verb = if wish == Wish::Plan { "plan" } else { "run" };
            let help = match opal_core::suggest::nearest(target, names) {
                _ if target.ends_with(".plan") && wish == Wish::Plan => {
                    format!("to look at a contract, write `opal plan show {target}`")
                }
                _ if target.ends_with(".plan") => {
                    format!("a contract is run with `opal run --plan {target}`")
                }
                Some(near) => format!("did you mean `opal {verb} {near}`?"),
                None => "`opal` alone lists the tasks; a file ends in .opl or holds a `/`".into(),
            };
            Err(Failure::usage(format!("there is no task `{target}`"), help))
        }
    }
}
