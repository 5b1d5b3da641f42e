//! `opal apps/web:build`, and `opal apps/...:test` for all projects of a tree.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use opal_ops::planning::Subject;

use super::task;
use crate::arguments::asks_for_json;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::{self, Asked};
use crate::project::Chosen;
use crate::projects::{self, Target};
use crate::source::{self, NotLoaded};
use crate::tasks::quoted;
use crate::verb::Verb;
use crate::view;

/// Refuses another source beside the project that a target names.
pub(crate) fn alone(file: Option<&PathBuf>, is_global: bool) -> Result<(), Failure> {
    let other = file.map(|file| format!("-f {}", file.display()));
    match other.or_else(|| is_global.then(|| "-g".to_owned())) {
        Some(other) => Err(Failure::usage(
            format!("`{other}` and the target both name a source"),
            "omit one of them",
        )),
        None => Ok(()),
    }
}

/// Runs, plans or verifies a task of another project, or of several.
pub(crate) fn run(
    context: &Context<'_>,
    target: &Target,
    rest: &[OsString],
    asked: Asked,
    verb: Verb,
) -> Result<Exit, Failure> {
    if projects::is_tree(&target.path) {
        return of_tree(context, target, rest, asked, verb);
    }
    let Target { path, task } = target;
    let chosen = Chosen::named(path);
    let mut loaded = source::read(&chosen, &context.registry).map_err(NotLoaded::into_failure)?;
    match source::task(&mut loaded, task, &context.registry)? {
        Some(task) => task::run(context, &loaded, &task, rest, asked, verb),
        None => {
            let tasks = source::all_tasks(&mut loaded, &context.registry)?;
            let names = tasks.iter().map(|task| task.name.as_str());
            let list = || format!("list its tasks with `{} list`", context.opal_for(&loaded));
            let near = opal_core::suggest::nearest(task, names);
            let help = near.map_or_else(list, |near| format!("did you mean `{near}`?"));
            let check = context.check_command(&loaded);
            let message = format!("unknown task `{task}` in `{}`", path.display());
            Err(source::unknown_task(Failure::usage(message, help), &loaded, &check))
        }
    }
}

/// The task of every project below a directory, as one plan.
fn of_tree(
    context: &Context<'_>,
    target: &Target,
    rest: &[OsString],
    before: Asked,
    verb: Verb,
) -> Result<Exit, Failure> {
    let Target { path, task } = target;
    let name = format!("{} {}", context.opal(), quoted(&format!("{}:{task}", path.display())));
    let command = || Command::new("opal").bin_name(&name);
    let mut asked = match options::parse(&command, rest, verb.options()) {
        Ok(matches) => Asked::from(&matches)?.or(before),
        Err(error) => return refused(&error, &name, context, asks_for_json(rest)),
    };
    let since = asked.plan.changed_since.as_deref();
    let loaded = projects::load(path, task, since, &context.registry, &context.opal())?;
    if let Some(selection) = &loaded.selection
        && !asked.run.quiet
    {
        view::plan::selected(selection);
    }
    let runs = verb != Verb::Plan && !asked.plan.dry_run;
    if runs && asked.run.jobs.is_none() {
        // As many at a time as the machine has cores: projects are not made to run beside all others.
        asked.run.jobs = std::thread::available_parallelism().ok();
    }
    let arguments = BTreeMap::new();
    let subject = Subject { loaded: &loaded, function: Some(task.clone()), arguments };
    let ended = task::carry_out(context, &subject, &asked, verb);
    ended.map_err(|failure| failure.in_json(asked.plan.is_json()))
}

/// What is not an option is not for the projects either: each has a task with parameters of its own.
fn refused(
    error: &clap::Error,
    name: &str,
    context: &Context<'_>,
    json: bool,
) -> Result<Exit, Failure> {
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => word,
        _ => return view::clap(error, context.out(), json),
    };
    let failure = Failure::usage(
        format!("unexpected argument `{word}`: `{name}` passes no arguments to the projects"),
        "give the parameters defaults, or run one project: `opal DIR:TASK ARGUMENTS`",
    );
    Err(failure.help(format!("`{name} --help` shows the options")).in_json(json))
}
