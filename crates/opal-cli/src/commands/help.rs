//! `opal --help`, `opal help NAME`.

use clap::ArgMatches;

use super::task::Wish;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::{builtins, view};

pub(crate) fn opal(context: &Context<'_>) -> Result<Exit, Failure> {
    view::help(&builtins::opal().render_help(), context)
}

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some(name) = matches.get_one::<String>("name") else { return opal(context) };
    let task = context.project().and_then(|loaded| loaded.task(name));
    match task {
        Some(task) => super::task::help(&task, context, Wish::Run),
        None => context.builtin(name, &["--help".into()]),
    }
}
