//! From a plan to an exit code: questions, the session, the record, the run, the last words.

mod audience;
mod end;
mod errand;
pub(crate) mod keeper;
mod providers;
pub(crate) mod questions;
pub(crate) mod recording;
mod reporting;
pub(crate) mod resume;
mod session;
mod steps;
mod unready;
mod verify_first;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use opal_core::Code;
use opal_core::action::Halt;
use opal_core::contract::Seen;
use opal_core::plan::{Piece, Plan};
use opal_core::shell::Shell;
use opal_exec::execute::{self, Fencing, Job, Outcome, Question, ShownBranches, Unready};
use opal_exec::verify::Report;
use opal_ops::resources;
use opal_plan::plan::Resolved;
use opal_session::LocalSession;
use opal_session::stop::USUAL_GRACE;
use opal_vault::Vault;
use opal_vault::record::Silent;
use opal_vault::trace::Trace;

use super::verify::survey;
use crate::context::Context;
use crate::failure::{Exit, Failure, Stopped};
use crate::options::Asked;
use crate::planning;
use crate::telemetry::Telemetry;
use crate::view;
use crate::view::run::{Live, Style, Talk};
use audience::RunAudience;
use end::End;
pub(crate) use errand::{Claim, Errand, Held};
use keeper::{Keeper, Unmoved};
use providers::Turn;
pub(crate) use providers::unchecked;
use recording::Recording;
use reporting::Reporting;

/// How long the look after a contract's run may take.
const MAX_FINAL_VERIFY: Duration = Duration::from_mins(1);

/// Runs it to its end.
pub(crate) fn execute(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
) -> Result<Exit, Failure> {
    let Resolved { plan, secrets, showing, unreached, .. } = errand.resolved;
    errand.is_allowed(context, asked)?;
    let own = Vault::new();
    let vault = errand.keeper.map_or(&own, Keeper::vault);
    execute::register(vault, showing);
    let telemetry = Telemetry::of_run(context, asked, vault)?;
    let (style, stop) = (style(context, asked, errand), errand.watched.stop());
    let live =
        Live::new(style, stop)?.with_resources(resources::described(plan, &context.registry));
    let audience = RunAudience::new(&live, vault, context, errand);
    let unmoved = Unmoved(&audience);
    let (start, base) = (planning::start(errand.subject)?, planning::base(errand.subject)?);
    let (session, reach) = session::open(context, asked, errand, start.clone(), &base)?;
    let from = resume::from(context, asked, errand, &start, vault)?;
    let selected = survey::selected(context, asked, errand.resolved)?;
    let job = Job {
        plan,
        values: secrets,
        showing,
        registry: &context.registry,
        session: &*session,
        reach: Some(&*reach),
        start: &start,
        base: &base,
        vault,
        recorder: &Silent,
        audience: if errand.keeper.is_some() { &unmoved } else { &audience },
        stop,
        jobs: asked.run.jobs.map(Into::into),
        output: ShownBranches { asked: asked.run.output, usual: style.branch_output() },
        from: from.path.as_deref(),
        earlier: &from.fleets,
        unreached,
        selected: selected.as_ref(),
        known: None,
        is_declared: errand.subject.loaded.is_config(),
        is_under_contract: errand.contract.is_some(),
        trace: None,
        fence: errand.share.map(|(_, fence)| fence as &dyn Fencing),
        // A queue runner talks there.
        stdin: errand.share.is_none_or(|(share, _)| share.io().is_none()),
        clock: crate::clock::now,
    };
    let questions = match ready(&job) {
        Ok(questions) => questions,
        Err(unready) => return unready::tell(context, asked, errand.subject, unready, vault),
    };
    note(context, errand, &session);
    let (known, _turn) = match agree(context, asked, errand, vault, &questions) {
        Ok(agreed) => agreed,
        Err(stopped) => return stopped.outcome(),
    };
    let header = recording::header(context, asked, errand, &start);
    let reporting = Reporting::begin(context, asked, &header)?;
    let trace = telemetry.as_ref().map(|_| Trace::new(&header.id, header.trace_parent));
    let kept_by = errand.keeper.map(|keeper| keeper.begin(plan)).transpose()?;
    let reporting = reporting.as_ref();
    let recording = Recording::begin(context, asked, header, errand, vault, kept_by, reporting)
        .map_err(|failure| errand.abandoned(failure))?;
    context.stages.end("prepare");
    let began = Instant::now();
    if let Err(failure) = errand.set_off(context, asked) {
        return refused(failure, context, asked, errand, recording, telemetry);
    }
    let (trace, known) = (trace.as_ref(), known.as_ref());
    let outcome = walked(&Job { recorder: &recording, known, trace, ..job }, &session);
    errand.has_ended(context, asked, &outcome, vault);
    let resources = left(context, asked, errand);
    let end =
        End { errand, outcome: &outcome, took: began.elapsed(), resources, reporting, telemetry };
    end.tell(context, asked, &live, recording, vault)
}

/// All steps. Of a run that was stopped nothing goes on.
fn walked(job: &Job<'_>, session: &LocalSession) -> Outcome {
    let outcome = execute::execute(job);
    if matches!(outcome.halt, Some(Halt::Stopped(_))) {
        session.end_all(USUAL_GRACE, job.stop);
    }
    outcome
}

/// A run that was refused before its first step.
fn refused(
    failure: Failure,
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    recording: Recording<'_>,
    telemetry: Option<Telemetry>,
) -> Result<Exit, Failure> {
    let folder = recording.folder().map(PathBuf::from);
    recording.refuse(&failure)?;
    telemetry.iter().for_each(|it| it.after(folder.as_deref(), context, asked));
    Err(errand.abandoned(failure))
}

/// Waits for its turn, verifies first where that was asked for, and asks all questions: what was verified,
/// and the turn, which lasts as long as it is held.
fn agree(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    vault: &Vault,
    questions: &[Question],
) -> Result<(Option<Report>, Option<Turn>), Stopped> {
    let go_on = |exit: Result<Option<Exit>, Failure>| match exit {
        Ok(None) => Ok(()),
        Ok(Some(exit)) => Err(Stopped::Ended(exit)),
        Err(failure) => Err(Stopped::Failed(failure)),
    };
    let turn = providers::turn(context, asked, errand)?;
    let known = verify_first::verify(context, asked, errand, vault)?;
    go_on(questions::ask(questions, vault, asked.run.yes, errand.watched))?;
    go_on(providers::confirm(context, asked, errand, vault, known.as_ref()))?;
    Ok((known, turn))
}

/// The questions to ask before the first step, where everything is ready.
fn ready(job: &Job<'_>) -> Result<Vec<Question>, Vec<Unready>> {
    execute::prepare(job)?;
    execute::questions(job).map_err(|unready| vec![unready])
}

/// How the run looks on a terminal.
fn style(context: &Context<'_>, asked: &Asked, errand: &Errand<'_>) -> Style {
    let ambient = context.ambient;
    let talk = match (asked.run.quiet, asked.run.verbose) {
        (true, _) => Talk::Quiet,
        (_, true) => Talk::Verbose,
        _ => Talk::Usual,
    };
    Style {
        talk,
        timings: asked.run.timings,
        ink: context.err(),
        stdout_is_json: asked.stdout_is_json(),
        stdout_is_terminal: ambient.stdout_is_terminal,
        stderr_is_terminal: ambient.can_redraw(),
        github: ambient.github,
        counts_branches: !errand.subject.loaded.is_config(),
    }
}

/// What a contract's run has left of its resources. A run that was stopped looks all the same, unless
/// it is told once more: what it has done would count as drift otherwise. Nothing where nobody could
/// look.
fn left(context: &Context<'_>, asked: &Asked, errand: &Errand<'_>) -> Vec<Seen> {
    let Some(held) = &errand.contract else { return Vec::new() };
    if !resources::has_resources(&errand.resolved.plan, &context.registry) {
        return Vec::new();
    }
    let Ok(place) = planning::place(errand.subject, context, &asked.plan) else {
        return Vec::new();
    };
    let stop = errand.watched.stop().deaf().limited(MAX_FINAL_VERIFY, USUAL_GRACE);
    let (resolved, registry) = (errand.resolved, &context.registry);
    match resources::of_contract(resolved, registry, &held.key, &place, &stop) {
        Ok(report) if report.stopped.is_none() => resources::seen(&report),
        _ => Vec::new(),
    }
}

/// What is worth knowing before the first step.
fn note(context: &Context<'_>, errand: &Errand<'_>, session: &LocalSession) {
    let Resolved { plan, warnings, .. } = errand.resolved;
    // The shell is looked for only where it matters: most plans have no pipe.
    if has_pipeline(plan) && session.shell() == Some(Shell::Sh) {
        view::plan::note("bash is not installed: a pipe fails only if its last command does");
    }
    let unmatched = warnings.iter().filter(|warning| warning.code == Code::NoArmMatches);
    view::check::advice(errand.subject.loaded, unmatched.cloned().collect(), context.err());
}

/// Whether the text of a step may hold a pipe.
fn has_pipeline(plan: &Plan) -> bool {
    let pipes = |text: &str| text.contains('|') && text.replace("||", "").contains('|');
    let mut pieces = plan.all_steps().flat_map(|step| step.command().unwrap_or_default());
    pieces.any(|piece| matches!(piece, Piece::Text(text) if pipes(text)))
}
