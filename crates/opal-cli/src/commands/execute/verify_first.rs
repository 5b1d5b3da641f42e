//! `--verify-first`: every resource is verified before the first step.

use opal_exec::verify::{Direction, Report};
use opal_ops::resources::Counts;
use opal_vault::Vault;

use super::errand::Errand;
use crate::commands::verify::survey::{self, Survey};
use crate::context::Context;
use crate::failure::{Failure, Stopped};
use crate::options::Asked;
use crate::view;

/// What was found, and shown; none without the option.
pub(super) fn verify(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    vault: &Vault,
) -> Result<Option<Report>, Stopped> {
    let &Errand { subject, resolved, watched, .. } = errand;
    if !asked.run.verify_first {
        return Ok(None);
    }
    let counts = Counts::of(&resolved.plan, &context.registry);
    let survey = Survey {
        context,
        asked,
        subject,
        resolved,
        vault,
        stop: watched.stop(),
        timeout: None,
        direction: Direction::Change,
    };
    let report = survey.take()?;
    match report.stopped.and(watched.exit()) {
        Some(exit) => {
            let Failure { message, .. } = survey::interrupted(exit, &report, counts);
            view::say(&format!("{message}\n"));
            Err(Stopped::Ended(exit))
        }
        None => {
            view::verify::first(&report, asked, context.err());
            Ok(Some(report))
        }
    }
}
