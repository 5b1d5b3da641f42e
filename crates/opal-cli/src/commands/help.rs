//! `opal --help`, `opal help NAME`.

use clap::ArgMatches;

use super::task::Wish;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::source::NotLoaded;
use crate::{builtins, tasks, view};

pub(crate) fn opal(context: &Context<'_>) -> Result<Exit, Failure> {
    view::help(&builtins::opal().render_help(), context)
}

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some(name) = matches.get_one::<String>("name") else { return opal(context) };
    if builtins::is_reserved(name) {
        return context.builtin(name, &["--help".into()]);
    }
    let project = context.project().map_err(NotLoaded::into_failure)?;
    match project.and_then(|loaded| tasks::find(&loaded, name)) {
        Some(task) => super::task::help(&task, context, Wish::Run),
        None => context.builtin(name, &["--help".into()]),
    }
}
