//! `--dry-run` of what describes a state: what would change, and nothing does.

use opal_exec::verify::Direction;
use opal_ops::planning::Subject;
use opal_ops::preview::{Effect, effects};
use opal_ops::resources::{self, Counts};
use opal_plan::plan::Resolved;

use crate::commands::verify::survey::{self, Survey};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning;
use crate::signals::Watched;
use crate::view;
use crate::view::verify::Preview;

/// Says what would change. Exit 1 where it could not be applied.
pub(crate) fn show(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
) -> Result<Exit, Failure> {
    let program = match planning::check(subject, context, asked.plan.is_json()) {
        Ok(program) => program,
        Err(stopped) => return stopped.outcome(),
    };
    let watched = Watched::begin()?;
    match survey::plan(context, subject, &program, asked, &watched) {
        Ok(resolved) => below(context, subject, &resolved, asked, &watched),
        Err(stopped) => stopped.outcome(),
    }
}

/// The same of a plan, below it or alone. What a quick one left open is not looked at.
pub(crate) fn below(
    context: &Context<'_>,
    subject: &Subject<'_>,
    resolved: &Resolved,
    asked: &Asked,
    watched: &Watched,
) -> Result<Exit, Failure> {
    let counts = Counts::of(&resolved.plan, &context.registry);
    let vault = resources::vault(resolved);
    let survey = Survey {
        context,
        asked,
        subject,
        resolved,
        vault: &vault,
        stop: watched.stop(),
        timeout: survey::limit(asked),
        direction: Direction::Change,
    };
    let report = survey.take()?;
    if let Some(exit) = report.stopped.and(watched.exit()) {
        return Err(survey::interrupted(exit, &report, counts));
    }
    let effects = effects(resolved, &report);
    let preview = Preview {
        file: &subject.loaded.name,
        report: &report,
        effects: &effects,
        // Steps that describe nothing cannot be selected.
        others: if asked.selection().is_all() { counts.others } else { 0 },
    };
    view::verify::preview(&preview, asked, context.out())?;
    let is_blocked = effects.contains(&Effect::Blocked);
    Ok(if is_blocked { Exit::Differs } else { Exit::Done })
}
