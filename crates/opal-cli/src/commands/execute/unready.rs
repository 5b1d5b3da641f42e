//! A plan that cannot run, and why: told like any other mistake in a source.

use opal_core::message::Message;
use opal_core::{Code, Diagnostic};
use opal_exec::execute::Unready;
use opal_ops::planning::Subject;
use opal_vault::Vault;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning::syntax::{self, line_of};
use crate::{commands::check, planning};

/// Shows what stands in the way of each step. Nothing has run.
pub(super) fn tell(
    context: &Context<'_>,
    asked: &Asked,
    subject: &Subject<'_>,
    found: Vec<Unready>,
    vault: &Vault,
) -> Result<Exit, Failure> {
    let (steps, whole): (Vec<Unready>, Vec<Unready>) =
        found.into_iter().partition(|unready| !unready.path.is_empty());
    if let Some(unready) = whole.into_iter().next() {
        let shown = |text: &Message| vault.scrub(text).text().into_owned();
        let (message, help) = (&unready.trouble.message, &unready.trouble.help);
        let (message, help) = (shown(message), help.iter().map(shown).collect());
        return Err(Failure { help, ..Failure::new(Exit::Unavailable, message, "") });
    }
    if let Some(config) = subject.loaded.config()
        && steps.iter().all(|unready| unready.code == Code::ShellSyntax)
    {
        let (text, world) = (&subject.loaded.text, check::world(context)?);
        let found = syntax::of_config(config, text, &context.registry, &world)?;
        planning::report(subject, found, context, asked.plan.is_json())?;
        return Ok(Exit::Source);
    }
    let place = |unready: &Unready| line_of(&subject.loaded.text, unready.span, unready.line);
    let diagnostics = steps.into_iter().map(|unready| {
        let place = place(&unready);
        let shown = |text: Message| vault.scrub(&text).text().into_owned();
        let message = shown(unready.trouble.message);
        let found = Diagnostic::new(unready.code, place, message);
        unready.trouble.help.into_iter().map(shown).fold(found, Diagnostic::help)
    });
    planning::report(subject, diagnostics.collect(), context, asked.plan.is_json())?;
    Ok(Exit::Source)
}
