//! `opal list`, and `opal` alone.

use clap::ArgMatches;
use opal_ops::source::Loaded;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::source::NotLoaded;
use crate::tasks::{self, Task};
use crate::{source, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (file, mut tasks) = tasks(context, Some(matches))?;
    if matches.get_flag("json") {
        return ended(context, &file, view::list::json(&file, &tasks));
    }
    if !matches.get_flag("all") {
        tasks.retain(|task| !task.is_private());
    }
    ended(context, &file, view::list::human(&file.name, &tasks, context.out()))
}

/// A task that is defined twice is listed, and an error; so is an import that cannot be read.
pub(super) fn ended(
    context: &Context<'_>,
    file: &Loaded,
    listed: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let mut found = tasks::duplicates(file);
    found.extend(file.imports.errors.iter().cloned());
    if found.is_empty() {
        return listed;
    }
    listed?;
    view::check::advice(file, found, context.err());
    Ok(Exit::Source)
}

/// `opal -l`: the tasks.
pub(crate) fn listed(context: &Context<'_>) -> Result<Exit, Failure> {
    let (file, mut tasks) = tasks(context, None)?;
    if context.typed.wants_json() {
        return view::list::json(&file, &tasks);
    }
    tasks.retain(|task| !task.is_private());
    view::list::human(&file.name, &tasks, context.out())
}

/// `opal` alone: the tasks, or how to start.
pub(crate) fn bare(context: &Context<'_>) -> Result<Exit, Failure> {
    if context.typed.wants_json() {
        let (file, tasks) = tasks(context, None)?;
        return ended(context, &file, view::list::json(&file, &tasks));
    }
    if context.chosen(None)?.is_none() {
        return view::list::how_to_start(context.out());
    }
    let (file, mut tasks) = tasks(context, None)?;
    tasks.retain(|task| !task.is_private());
    ended(context, &file, view::list::human(&file.name, &tasks, context.out()))
}

pub(super) fn tasks(
    context: &Context<'_>,
    matches: Option<&ArgMatches>,
) -> Result<(Loaded, Vec<Task>), Failure> {
    let chosen = context.needed(matches)?;
    let mut loaded = source::read(&chosen, &context.registry).map_err(NotLoaded::into_failure)?;
    if let Some(foreign) = loaded.foreign(&context.registry) {
        let help = foreign.help.join("; ");
        let message = format!("{}: {}", loaded.name, foreign.message);
        return Err(Failure::new(Exit::Source, message, help));
    }
    let tasks = source::all_tasks(&mut loaded, &context.registry)?;
    let errors = loaded.syntax_errors();
    if errors > 0 {
        view::list::broken(&loaded.name, errors);
    }
    Ok((loaded, tasks))
}
