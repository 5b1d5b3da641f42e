//! `opal --help`, `opal help NAME`.

use clap::ArgMatches;

use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::{builtins, tasks, view};

pub(crate) fn opal(context: &Context<'_>) -> Result<Exit, Failure> {
    view::help(&builtins::opal().render_help(), context)
}

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some(name) = matches.get_one::<String>("name") else { return opal(context) };
    let found = context.tasks();
    let task = found.as_ref().and_then(|(_, all)| tasks::find(all, name));
    match task {
        Some(task) => view::help(&tasks::command(task).render_long_help(), context),
        None => context.builtin(name, &["--help".into()]),
    }
}
