//! `opal --help`, and the help of a task.

use opal_ops::source::Loaded;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::tasks::{self, Task};
use crate::verb::Verb;
use crate::{builtins, options, view};

pub(crate) fn opal(context: &Context<'_>) -> Result<Exit, Failure> {
    view::help(&builtins::opal().render_help(), context.out())
}

/// Everything that a task takes, with the options of opal.
pub(crate) fn task(
    task: &Task,
    loaded: &Loaded,
    context: &Context<'_>,
    verb: Verb,
) -> Result<Exit, Failure> {
    let command = tasks::command(task, &context.opal_for(loaded));
    let mut command = options::behind(command, verb.options());
    view::help(&command.render_long_help(), context.out())
}

/// The parameters of a task, and nothing of opal's own.
pub(crate) fn parameters(
    task: &Task,
    loaded: &Loaded,
    context: &Context<'_>,
) -> Result<Exit, Failure> {
    let opal = context.opal_for(loaded);
    let more = format!(
        "`{} --help` also shows the options of opal: --dry-run (-n), --yes (-y), --verbose (-v) \
         and others.",
        task.command(&opal)
    );
    let mut command = tasks::command(task, &opal).after_help(more);
    view::help(&command.render_help(), context.out())
}
