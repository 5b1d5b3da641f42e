//! `opal doc`: the tasks as Markdown.

use clap::ArgMatches;

use super::list;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::{source, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (file, mut tasks) = list::tasks(context, Some(matches))?;
    tasks.retain(|task| !task.is_private());
    let shown = match matches.get_flag("json") {
        true => view::list::json(&file, &tasks),
        false => view::doc::markdown(&format!("opal{}", source::chosen_by(&file)), &tasks),
    };
    list::ended(context, &file, shown)
}
