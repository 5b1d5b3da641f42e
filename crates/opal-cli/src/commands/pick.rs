//! `opal pick`: a task chosen by typing, with its arguments.

mod preview;
mod quoting;

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::ArgMatches;
use opal_core::Value;

use super::task;
use crate::context::Context;
use crate::failure::{Exit, Failure, Stopped};
use crate::options::Asked;
use crate::project::Chosen;
use crate::prompts::{self, Asks};
use crate::source::NotLoaded;
use crate::tasks::{self, Task};
use crate::verb::Verb;
use crate::view::diagnostics::visible;
use crate::view::tty::menu::{Item, Menu};
use crate::{source, view};
use preview::Preview;
use quoting::Shell;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let is_printed = matches.get_flag("print");
    let can_ask = prompts::can_ask(context) || is_printed && context.ambient.is_capable();
    if !can_ask {
        return Err(prompts::needs_terminal("`opal pick`"));
    }
    let chosen = context.needed(Some(matches))?;
    let mut loaded = source::read(&chosen, &context.registry).map_err(NotLoaded::into_failure)?;
    let mut all = source::all_tasks(&mut loaded, &context.registry)?;
    all.retain(|task| !task.is_private());
    if all.is_empty() {
        let message = format!("`{}` has no tasks", loaded.name);
        return Err(Failure::usage(message, "a task is a function: `fun hello() = echo hello`"));
    }
    let word = matches.get_one::<String>("word").cloned().unwrap_or_default();
    let (picked, arguments) = match pick(context, &chosen, all, word, is_printed) {
        Ok(picked) => picked,
        Err(unanswered) => return unanswered.outcome(),
    };
    let words = words(context, matches, &picked, &arguments);
    if is_printed {
        let shell = matches.get_one::<String>("shell").map_or("bash", String::as_str);
        return view::print(&Shell::named(shell).line(&words)?);
    }
    let shown: Vec<String> = words.iter().map(|word| tasks::quoted(word)).collect();
    view::running(&shown.join(" "), context.err());
    start(context, &chosen, &picked, &arguments)
}

/// The task that somebody chooses, with arguments for it.
fn pick(
    context: &Context<'_>,
    chosen: &Chosen,
    mut all: Vec<Task>,
    typed: String,
    is_printed: bool,
) -> Result<(Task, BTreeMap<String, Value>), Stopped> {
    let item = |task: &Task| {
        let parts = [task.group.as_deref().unwrap_or_default(), task.summary()];
        let note = parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ");
        Item { name: visible(&task.name), note: visible(&note) }
    };
    let items: Vec<Item> = all.iter().map(item).collect();
    let mut tty = prompts::terminal(context)?;
    tty.keeps_answers = !is_printed;
    let preview = Preview::new(context, chosen, tty.colour)?;
    let about = |at: usize| preview.of(&all[at]);
    let found = tty.choose(Menu { label: "task: ", items: &items, typed, about: &about })?;
    let picked = all.swap_remove(found);
    let mut arguments = BTreeMap::new();
    prompts::ask(&mut tty, &picked, Asks::All, &mut arguments)?;
    Ok((picked, arguments))
}

/// What is typed to run the task, each word as it is.
fn words(
    context: &Context<'_>,
    matches: &ArgMatches,
    task: &Task,
    arguments: &BTreeMap<String, Value>,
) -> Vec<String> {
    let mut words = vec!["opal".to_owned()];
    words.extend(context.typed.before.iter().map(|word| word.to_string_lossy().into_owned()));
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    for directory in &context.typed.directories {
        option("-C", directory.display().to_string());
    }
    if let Some(file) = context.file(matches) {
        option("-f", file.display().to_string());
    }
    if context.is_global(matches) {
        words.push("-g".to_owned());
    }
    if task.is_reserved() {
        words.push("run".to_owned());
    }
    words.extend(tasks::words_with(task, arguments, &str::to_owned));
    words
}

fn start(
    context: &Context<'_>,
    chosen: &Chosen,
    task: &Task,
    arguments: &BTreeMap<String, Value>,
) -> Result<Exit, Failure> {
    let mut loaded = source::read(chosen, &context.registry).map_err(NotLoaded::into_failure)?;
    let Some(task) = source::task(&mut loaded, &task.name, &context.registry)? else {
        let message = format!("`{}` is no longer a task", task.name);
        let help = format!("list the tasks with `{}`", context.opal_for(&loaded));
        return Err(Failure::usage(message, help));
    };
    let words = tasks::words_with(&task, arguments, &str::to_owned);
    let rest: Vec<OsString> = words.into_iter().skip(1).map(OsString::from).collect();
    let before = Asked::before(&context.typed.before)?;
    task::run(context, &loaded, &task, &rest, before, Verb::Run)
}
