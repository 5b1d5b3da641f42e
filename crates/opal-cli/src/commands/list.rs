//! `opal list`, and `opal` alone.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_ops::source::Loaded;

use super::{init, of_projects};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::project::{Chosen, DEFAULT_FILE};
use crate::source::NotLoaded;
use crate::tasks::{self, Task};
use crate::{projects, source, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    if let Some(target) = matches.get_one::<String>("target") {
        of_projects::alone(context.file(matches), context.is_global(matches))?;
        return list_projects(context, target, matches);
    }
    let (file, mut tasks) = tasks(context, Some(matches))?;
    if matches.get_flag("json") {
        return ended(context, &file, view::list::json(&file, &tasks));
    }
    if !matches.get_flag("all") {
        tasks.retain(|task| !task.is_private());
    }
    ended(
        context,
        &file,
        view::list::human(&file.name, &context.opal_for(&file), &tasks, context.out()),
    )
}

/// A task that is defined twice is listed, and an error; so is an import that cannot be read.
pub(super) fn ended(
    context: &Context<'_>,
    file: &Loaded,
    listed: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let mut found = tasks::duplicates(file);
    found.extend(file.imports.program.errors.iter().cloned());
    if found.is_empty() {
        return listed;
    }
    listed?;
    view::check::advice(file, found, context.err());
    Ok(Exit::Source)
}

/// The tasks of another project, or of all projects below a directory, by the names to call them.
fn list_projects(
    context: &Context<'_>,
    target: &str,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let folder = Path::new(target);
    let projects: Vec<PathBuf> = match projects::is_tree(folder) {
        true => projects::folders(folder)?,
        false => vec![folder.to_owned()],
    };
    let (mut all, mut places, mut exit) = (Vec::new(), Vec::new(), Exit::Done);
    for project in projects {
        let (loaded, mut tasks) = of_file(context, &Chosen::named(project.join(DEFAULT_FILE)))?;
        if !matches.get_flag("all") && !matches.get_flag("json") {
            tasks.retain(|task| !task.is_private());
        }
        exit = ended(context, &loaded, Ok(exit))?;
        let lines = loaded.lines();
        for task in tasks {
            let (file, line) = lines.of(task.offset);
            places.push((file.to_owned(), line));
            all.push(task.of_project(&project));
        }
    }
    let places: Vec<(&str, u32)> = places.iter().map(|(file, line)| (&**file, *line)).collect();
    match matches.get_flag("json") {
        true => view::list::json_at(target, &all, &places)?,
        false => view::list::human(target, &context.opal(), &all, context.out())?,
    };
    Ok(exit)
}

/// `opal -l`: the tasks.
pub(crate) fn listed(context: &Context<'_>) -> Result<Exit, Failure> {
    let (file, mut tasks) = tasks(context, None)?;
    if context.typed.wants_json() {
        return view::list::json(&file, &tasks);
    }
    tasks.retain(|task| !task.is_private());
    view::list::human(&file.name, &context.opal_for(&file), &tasks, context.out())
}

/// `opal` alone: the tasks, or how to start.
pub(crate) fn bare(context: &Context<'_>) -> Result<Exit, Failure> {
    if context.typed.wants_json() {
        let (file, tasks) = tasks(context, None)?;
        return ended(context, &file, view::list::json(&file, &tasks));
    }
    if context.chosen(None)?.is_none() {
        return view::list::how_to_start(init::convertible().as_deref(), context.out());
    }
    let (file, mut tasks) = tasks(context, None)?;
    tasks.retain(|task| !task.is_private());
    ended(
        context,
        &file,
        view::list::human(&file.name, &context.opal_for(&file), &tasks, context.out()),
    )
}

pub(super) fn tasks(
    context: &Context<'_>,
    matches: Option<&ArgMatches>,
) -> Result<(Loaded, Vec<Task>), Failure> {
    of_file(context, &context.needed(matches)?)
}

fn of_file(context: &Context<'_>, chosen: &Chosen) -> Result<(Loaded, Vec<Task>), Failure> {
    let mut loaded = source::read(chosen, &context.registry).map_err(NotLoaded::into_failure)?;
    if let Some(foreign) = loaded.foreign(&context.registry) {
        let help = foreign.help.join("; ");
        let message = format!("{}: {}", loaded.name, foreign.message);
        return Err(Failure::new(Exit::Source, message, help));
    }
    let tasks = source::all_tasks(&mut loaded, &context.registry)?;
    let errors = loaded.syntax_errors();
    if errors > 0 {
        view::list::warn_broken(&loaded.name, errors, &context.check_command(&loaded));
    }
    Ok((loaded, tasks))
}
