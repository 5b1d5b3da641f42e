//! `opal NAME`, `opal FILE.opl`: from what was typed to what is planned.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use opal_core::Value;
use opal_runtime::plan::Purpose;

use super::execute::{self, Errand};
use super::plan;
use crate::dispatch::{Context, is_file};
use crate::failure::{Exit, Failure};
use crate::options::{self, Asked};
use crate::planning::Subject;
use crate::signals::Watched;
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
    before: Asked,
    wish: Wish,
) -> Result<Exit, Failure> {
    let mut before_end = rest.iter().take_while(|argument| *argument != "--");
    let wants_help = before_end.any(|argument| argument == "--help" || argument == "-h");
    if wants_help && !task.has_flag("help") {
        return help(task, context);
    }
    let mut subject =
        Subject { loaded, function: Some(task.name.clone()), arguments: BTreeMap::new() };
    let matches = match options::parse(&|| tasks::command(task), rest) {
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
    carry_out(context, &subject, &Asked::from(&matches)?.or(before), wish)
}

/// The top-level steps of a file; the words behind it are its arguments.
pub(crate) fn script(
    context: &Context<'_>,
    path: &Path,
    rest: &[OsString],
    asked: &Asked,
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
    carry_out(context, &subject, asked, wish)
}

fn carry_out(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
    wish: Wish,
) -> Result<Exit, Failure> {
    if wish == Wish::Plan || asked.plan.dry_run {
        asked.for_plan()?;
        return plan::plan(context, subject, &asked.plan);
    }
    asked.for_run()?;
    let options = &asked.plan;
    let checked = match subject.check(context, options.is_json())? {
        // The process ends soon after: it frees it all at once.
        Ok(checked) => ManuallyDrop::new(checked),
        Err(exit) => return Ok(exit),
    };
    let watched = Watched::begin()?;
    let mut keys = subject.own_keys(context, options);
    let planned = subject.plan(context, &checked, options, Purpose::Run, &mut keys, &watched)?;
    let resolved = match planned {
        Ok(resolved) => resolved,
        Err(exit) => return Ok(exit),
    };
    if keys.drew() {
        plan::trust::may_draw(context, options, &subject.loaded.path)?;
    }
    let errand = Errand {
        subject,
        resolved: &resolved,
        watched: &watched,
        contract: None,
        claim: None,
        again: Some(execute::again::direct(context, asked, subject)),
    };
    execute::execute(context, asked, &errand)
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
    asked: Asked,
    wish: Wish,
) -> Result<Exit, Failure> {
    if is_file(target) {
        return script(context, Path::new(target), rest, &asked, wish);
    }
    let path = project::file_or_project(file)?;
    let loaded = Loaded::read(&path, &context.registry).map_err(NotLoaded::into_failure)?;
    match loaded.task(target) {
        Some(task) => run(context, &loaded, &task, rest, asked, wish),
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
