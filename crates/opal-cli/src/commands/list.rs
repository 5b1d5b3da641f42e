//! `opal list`, and `opal` alone.

use std::path::PathBuf;

use clap::ArgMatches;
use opal_ops::source::Loaded;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::source::NotLoaded;
use crate::tasks::{self, Task};
use crate::{project, source, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (file, mut tasks) = tasks(context, context.file(matches))?;
    if matches.get_flag("json") {
        return ended(context, &file, view::list::json(&file, &tasks));
    }
    if !matches.get_flag("all") {
        tasks.retain(|task| !task.is_private());
    }
    ended(context, &file, view::list::human(&file.name, &tasks, context.out()))
}

/// A task that is defined twice is listed, and an error.
fn ended(
    context: &Context<'_>,
    file: &Loaded,
    listed: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let duplicates = tasks::duplicates(file);
    if duplicates.is_empty() {
        return listed;
    }
    listed?;
    view::check::advice(file, duplicates, context.err());
    Ok(Exit::Source)
}

/// `opal -l`: the tasks.
pub(crate) fn listed(context: &Context<'_>) -> Result<Exit, Failure> {
    let (file, mut tasks) = tasks(context, context.typed.file.as_ref())?;
    if context.typed.wants_json() {
        return view::list::json(&file, &tasks);
    }
    tasks.retain(|task| !task.is_private());
    view::list::human(&file.name, &tasks, context.out())
}

/// `opal` alone: the tasks, or how to start.
pub(crate) fn bare(context: &Context<'_>) -> Result<Exit, Failure> {
    if context.typed.wants_json() {
        let (file, tasks) = tasks(context, context.typed.file.as_ref())?;
        return ended(context, &file, view::list::json(&file, &tasks));
    }
    if context.typed.file.is_none() && project::find()?.is_none() {
        return view::list::how_to_start(context.out());
    }
    let (file, mut tasks) = tasks(context, context.typed.file.as_ref())?;
    tasks.retain(|task| !task.is_private());
    ended(context, &file, view::list::human(&file.name, &tasks, context.out()))
}

fn tasks(context: &Context<'_>, file: Option<&PathBuf>) -> Result<(Loaded, Vec<Task>), Failure> {
    let path = project::file_or_project(file)?;
    let loaded = source::read(&path, &context.registry).map_err(NotLoaded::into_failure)?;
    if let Some(foreign) = loaded.foreign(&context.registry) {
        let help = foreign.help.join("; ");
        let message = format!("{}: {}", loaded.name, foreign.message);
        return Err(Failure::new(Exit::Source, message, help));
    }
    let errors = loaded.syntax_errors();
    if errors > 0 {
        view::list::broken(&loaded.name, errors);
    }
    let tasks = tasks::of(&loaded);
    Ok((loaded, tasks))
}
