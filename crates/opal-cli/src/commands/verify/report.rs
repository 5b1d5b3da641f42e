//! Verifies the resources of one target, and shows what was found.

use std::mem::ManuallyDrop;

use opal_core::resource;
use opal_exec::verify::Direction;
use opal_ops::planning::Subject;
use opal_ops::resources::{self, Counts};

use super::reporting;
use super::survey::{Survey, interrupted, limit, plan};
use crate::commands::command_line;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning;
use crate::reports::{self, Reports};
use crate::signals::Watched;
use crate::view;
use crate::view::verify::Findings;

/// Verifies the resources of `subject`.
pub(crate) fn verify(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
) -> Result<Exit, Failure> {
    asked.for_verify()?;
    reports::around(context, &asked.run.reports, &subject.loaded.name, || {
        report(context, subject, asked)
    })
}

fn report(context: &Context<'_>, subject: &Subject<'_>, asked: &Asked) -> Result<Exit, Failure> {
    let program = match planning::check(subject, context, asked.plan.is_json()) {
        // The process ends soon after: it frees it all at once.
        Ok(program) => ManuallyDrop::new(program),
        Err(stopped) => return stopped.outcome(),
    };
    let watched = Watched::begin()?;
    let resolved = match plan(context, subject, &program, asked, &watched) {
        Ok(resolved) => ManuallyDrop::new(resolved),
        Err(stopped) => return stopped.outcome(),
    };
    let counts = Counts::of(&resolved.plan, &context.registry);
    let vault = resources::vault(&resolved);
    let survey = Survey {
        context,
        asked,
        subject,
        resolved: &resolved,
        vault: &vault,
        stop: watched.stop(),
        timeout: limit(asked),
        direction: Direction::Report,
    };
    let reports = Reports::ready(context, &asked.run.reports)?;
    let report = survey.take()?;
    if let Some(exit) = report.stopped.and(watched.exit()) {
        return Err(interrupted(exit, &report, counts));
    }
    let findings = Findings {
        file: &subject.loaded.name,
        report: &report,
        others: counts.others,
        is_part: !asked.selection().is_all(),
        apply_command: &command_line::apply(context, subject, asked),
    };
    view::verify::show(&findings, asked, context.out())?;
    context.stages.end("verify");
    view::trace::telemetry(&context.stages, subject.loaded, &resolved.plan, &asked.plan);
    let unreported = reports.and_then(|it| reporting::write(&it, context, &findings, &resolved));
    let all_satisfied =
        report.verifications.iter().all(|it| it.status == resource::Status::Satisfied);
    Ok(if all_satisfied { unreported.unwrap_or(Exit::Done) } else { Exit::Differs })
}
