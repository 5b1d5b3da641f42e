//! A plan that cannot run, and why: told like any other mistake in a source.

use opal_core::Diagnostic;
use opal_runtime::execute::Unready;

use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning::Subject;

/// Shows what stands in the way of each step. Nothing has run.
pub(super) fn tell(
    context: &Context<'_>,
    asked: &Asked,
    subject: &Subject<'_>,
    found: Vec<Unready>,
) -> Result<Exit, Failure> {
    let (steps, whole): (Vec<Unready>, Vec<Unready>) =
        found.into_iter().partition(|unready| !unready.path.is_empty());
    if let Some(unready) = whole.into_iter().next() {
        let trouble = unready.trouble;
        return Err(Failure { exit: Exit::Unavailable, message: trouble.message, help: trouble.help });
    }
    let diagnostics = steps.into_iter().map(|unready| {
        let found = Diagnostic::new(unready.code, unready.span, unready.trouble.message);
        unready.trouble.help.into_iter().fold(found, Diagnostic::help)
    });
    subject.report(diagnostics.collect(), context, asked.plan.is_json())?;
    Ok(Exit::Source)
}
