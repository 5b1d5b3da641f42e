//! Before something is changed on a terminal: the plan, and a question.

use opal_core::view::PlanView;
use opal_modules::run::Run;

use crate::commands::execute::questions;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::signals::Watched;
use crate::view;

/// Whether somebody is there to be asked, and has not answered yet. What a pipeline runs, and `hyops`, goes
/// ahead.
pub(super) fn is_asked(context: &Context<'_>, asked: &Asked) -> bool {
    let is_person = context.ambient.is_interactive() && !context.typed.is_hyops;
    is_person && !asked.run.yes && !asked.stdout_is_json() && !asked.plan.is_json()
}

/// Shows the plan and asks; an exit code where the answer is no.
pub(super) fn ask(
    context: &Context<'_>,
    run: &Run,
    shown: &PlanView<'_>,
    watched: &Watched,
) -> Result<Option<Exit>, Failure> {
    view::plan::show(shown, &PlanOptions::default(), context.out())?;
    let question = format!("{} `{}`?", run.prepared.command, run.prepared.spec.module_ref);
    questions::confirm(question, &run.vault, watched)
}
