//! `--verify-first`: everything is looked at before the first step.

use opal_exec::verify::{Direction, Report};
use opal_ops::planning::Subject;
use opal_plan::plan::Resolved;
use opal_vault::Vault;

use crate::commands::verify::{self, Counts};
use crate::dispatch::Context;
use crate::failure::Failure;
use crate::options::Asked;
use crate::planning::Outcome;
use crate::signals::Watched;
use crate::view;

/// What was found, and told; none where nobody asked.
pub(crate) fn look(
    context: &Context<'_>,
    asked: &Asked,
    (subject, resolved): (&Subject<'_>, &Resolved),
    vault: &Vault,
    watched: &Watched,
) -> Outcome<Option<Report>> {
    if !asked.run.verify_first {
        return Ok(Ok(None));
    }
    let counts = Counts::of(&resolved.plan, &context.registry);
    let how = (None, Direction::Change);
    let report = verify::look(context, asked, (subject, resolved), vault, watched.stop(), how)?;
    match report.stopped.and(watched.exit()) {
        Some(exit) => {
            let Failure { message, .. } = verify::interrupted(exit, &report, counts);
            view::say(&format!("{message}\n"));
            Ok(Err(exit))
        }
        None => {
            view::verify::first(&report, asked, context);
            Ok(Ok(Some(report)))
        }
    }
}
