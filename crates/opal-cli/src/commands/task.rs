//! `opal NAME`, `opal run`, `opal FILE.opl`: running is not part of this version, checking is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::Severity;

use super::check;
use crate::dispatch::{Context, is_file, tasks_of};
use crate::failure::{Exit, Failure};
use crate::tasks::{self, Task};
use crate::view;

pub(crate) fn run(
    context: &Context<'_>,
    path: &Path,
    task: &Task,
    rest: &[OsString],
) -> Result<Exit, Failure> {
    let own = |name: &str| task.params.iter().any(|param| param.name == name);
    let mut before_end = rest.iter().take_while(|argument| *argument != "--");
    let wants_help = before_end.any(|argument| argument == "--help" || argument == "-h");
    if wants_help && !own("help") {
        let help = tasks::command(task).render_long_help();
        return view::help(&help, context);
    }
    let outcome = checked(context, path, &format!("the task `{}`", task.name));
    if outcome.is_ok() {
        return outcome;
    }
    let command = tasks::command(task).no_binary_name(true);
    if let Err(error) = command.try_get_matches_from(rest) {
        return view::clap(&error, context);
    }
    outcome.map_err(|failure| {
        if task.hides_builtin() {
            return failure.help(format!("for the built-in, write `opal self {}`", task.name));
        }
        failure
    })
}

pub(crate) fn script(
    context: &Context<'_>,
    path: &Path,
    _rest: &[OsString],
) -> Result<Exit, Failure> {
    checked(context, path, "the script")
}

pub(crate) fn run_command(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let target = matches.get_one::<String>("target").map_or("", String::as_str);
    let rest: Vec<OsString> = matches
        .get_many::<String>("arguments")
        .map(|all| all.map(OsString::from).collect())
        .unwrap_or_default();
    run_target(context, target, context.file(matches), &rest)
}

pub(crate) fn run_target(
    context: &Context<'_>,
    target: &str,
    file: Option<&PathBuf>,
    rest: &[OsString],
) -> Result<Exit, Failure> {
    if is_file(target) {
        return script(context, Path::new(target), rest);
    }
    let path = crate::project::file_or_project(file)?;
    let found = tasks_of(Some(path.clone()), &context.registry);
    let tasks = found.map(|(_, tasks)| tasks).unwrap_or_default();
    match tasks::find(&tasks, target) {
        Some(task) => run(context, &path, task, rest),
        None => {
            let names = tasks.iter().map(|task| task.name.as_str());
            let help = match opal_core::suggest::nearest(target, names) {
                Some(near) => format!("did you mean `opal run {near}`?"),
                None => "`opal` alone lists the tasks; a file ends in .opl or holds a `/`".into(),
            };
            Err(Failure::usage(format!("there is no task `{target}`"), help))
        }
    }
}

/// Shows what is wrong with the file; where nothing is, says that running comes later.
fn checked(context: &Context<'_>, path: &Path, what: &str) -> Result<Exit, Failure> {
    let mut file = check::file(context, path);
    if let Some(failure) = file.failure {
        return Err(failure);
    }
    if file.count(Severity::Error) > 0 {
        file.diagnostics.retain(opal_core::Diagnostic::is_error);
        view::check::to_stderr(&file, context)?;
        return Ok(Exit::Source);
    }
    Err(Failure::new(
        Exit::Unavailable,
        format!("{what} has no errors, but running is not part of this version"),
        "this version checks, formats and lists; see CHANGELOG.md for what comes next",
    ))
}
