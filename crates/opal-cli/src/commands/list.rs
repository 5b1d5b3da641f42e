//! `opal list`, and `opal` alone.

use std::path::PathBuf;

use clap::ArgMatches;

use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::tasks::{self, Task};
use crate::{project, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (file, mut tasks) = tasks(context, context.file(matches))?;
    if matches.get_flag("json") {
        return view::list::json(&file, &tasks);
    }
    if !matches.get_flag("all") {
        tasks.retain(|task| !task.is_private());
    }
    view::list::human(&file, &tasks, context)
}

/// `opal` alone: the tasks, or how to start.
pub(crate) fn bare(context: &Context<'_>) -> Result<Exit, Failure> {
    if context.typed.file.is_none() && project::find().is_none() {
        return view::list::how_to_start(context);
    }
    let (file, mut tasks) = tasks(context, context.typed.file.as_ref())?;
    tasks.retain(|task| !task.is_private());
    view::list::human(&file, &tasks, context)
}

fn tasks(context: &Context<'_>, file: Option<&PathBuf>) -> Result<(String, Vec<Task>), Failure> {
    let path = project::file_or_project(file)?;
    let source = project::read(&path)?;
    let text = source.text.map_err(|no_text| {
        let diagnostic = no_text.diagnostic;
        Failure::new(
            Exit::Source,
            format!("{}: {}", source.name, diagnostic.message),
            diagnostic.help.join("; "),
        )
    })?;
    let parse = opal_syntax::parse(&text, &opal_runtime::Words(&context.registry));
    let errors = parse.errors.iter().filter(|error| error.is_error()).count();
    if errors > 0 {
        view::list::broken(&source.name, errors);
    }
    Ok((source.name, tasks::parsed(&parse, &text)))
}
