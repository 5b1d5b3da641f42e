//! The last words of a run, to the record and to people.

use std::path::PathBuf;
use std::time::Duration;

use opal_core::action::{Halt, Why};
use opal_core::contract::Seen;
use opal_core::plan::{Plan, Step};
use opal_core::resource;
use opal_exec::execute::{FailedStep, Outcome};
use opal_ops::planning::record_name;
use opal_ops::resume::can_be_resumed;
use opal_vault::Vault;
use opal_vault::event::Status;
use opal_vault::record::{self, Ending};
use serde_json::Value;

use super::errand::Errand;
use super::keeper::RunEnd;
use super::recording::Recording;
use super::reporting::Reporting;
use super::steps::place;
use crate::ambient::Ambient;
use crate::commands::command_line;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::telemetry::Telemetry;
use crate::view;
use crate::view::run::{Failed, Live, Report, summary_json};

/// How a run ended, and what there is to say about it.
pub(super) struct End<'e> {
    pub(super) errand: &'e Errand<'e>,
    pub(super) outcome: &'e Outcome,
    pub(super) took: Duration,
    /// What a contract's run has left of its resources.
    pub(super) resources: Vec<Seen>,
    /// The reports that were asked for.
    pub(super) reporting: Option<&'e Reporting>,
    /// Who sends the run to others.
    pub(super) telemetry: Option<Telemetry>,
}

impl End<'_> {
    /// The last words, to the record and to people. Gives the exit code.
    pub(super) fn tell(
        &self,
        context: &Context<'_>,
        asked: &Asked,
        live: &Live,
        recording: Recording<'_>,
        vault: &Vault,
    ) -> Result<Exit, Failure> {
        let (outcome, ending) = (self.outcome, self.ending());
        let last = self.errand.keeper.map(|it| it.end(outcome, ending)).transpose();
        let word = last.as_ref().ok().and_then(Option::as_ref);
        let RunEnd { status, code } = word.map_or(ending, |last| last.end);
        // A look that has found a difference has done what it was for.
        let has_failed = status != Status::Executed;
        let failed = outcome.failed.as_ref().filter(|_| has_failed);
        let mut steps = outcome.steps;
        if !has_failed {
            steps.done += std::mem::take(&mut steps.failed);
        }
        let ending = Ending {
            at: crate::clock::now(),
            took: self.took,
            status,
            code,
            counts: steps,
            failed: failed.map(|step| recorded(step, vault)),
            beside: outcome.beside.iter().map(|step| recorded(step, vault)).collect(),
            hidden: &outcome.hidden,
            resources: self.resources.clone(),
            fleets: &outcome.fleets,
            modified: None,
        };
        let id = recording.id().map(ToString::to_string);
        let folder = recording.folder().map(PathBuf::from);
        let kept = recording.finish(ending);
        let is_open = matches!(outcome.halt, Some(Halt::Failed(_) | Halt::Stopped(_)));
        // Every step has run: there is nothing to go on with.
        let is_open = is_open && !outcome.is_undone;
        let (resolved, loaded) = (self.errand.resolved, self.errand.subject.loaded);
        let is_open = is_open && folder.as_deref().is_some_and(|it| can_be_resumed(it, resolved));
        let again = self.errand.again.as_deref().filter(|_| is_open);
        let resume = again.map(|words| vault.scrub(words).text().into_owned());
        let told = |failed| self.failed(failed, context.ambient, vault);
        let report = Report {
            status,
            code,
            took: self.took,
            steps,
            fleets: &outcome.fleets,
            resumption: view::targets::resumption(&outcome.fleets),
            failed: failed.map(|failed| self.with_verify_hint(context, told(failed))),
            beside: outcome.beside.iter().map(told).collect(),
            hidden: &outcome.hidden,
            more: outcome.more,
            late: &outcome.late,
            is_resume_hidden: resume.as_deref() != again,
            resume: resume.as_deref(),
            record: folder.as_deref(),
        };
        let document = || self.document(context, live, id.as_deref(), &report, vault);
        live.finish(&report);
        view::runs::still_open(&outcome.unclosed, &context.opal_runs(None), id.as_deref());
        if let Some(last) = word {
            view::module::last(last.json.as_ref(), &last.text, asked.plan.is_json())?;
        } else if asked.plan.is_json() && last.is_ok() {
            view::print_json(&document())?;
        }
        let json = || word.map_or_else(document, |last| last.document.clone());
        let unreported =
            self.reporting.and_then(|it| it.write(self, context, &report, &json, vault));
        context.stages.end("run");
        self.telemetry.iter().for_each(|it| it.after(folder.as_deref(), context, asked));
        view::trace::telemetry(&context.stages, loaded, &resolved.plan, &asked.plan);
        kept?;
        last?;
        match live.trouble() {
            Some(failure) => Err(failure),
            // A report that is missing fails a run that did not fail.
            None if code == 0 => Ok(unreported.unwrap_or(Exit::Step(0))),
            None => Ok(Exit::Step(u8::try_from(code).unwrap_or(1))),
        }
    }

    /// The run as one JSON document.
    fn document(
        &self,
        context: &Context<'_>,
        live: &Live,
        id: Option<&str>,
        report: &Report<'_>,
        vault: &Vault,
    ) -> Value {
        let (loaded, plan) = (self.errand.subject.loaded, &self.errand.resolved.plan);
        let steps = || live.steps_json(plan, &context.registry, vault);
        let steps = loaded.is_config().then(steps);
        let mut summary = summary_json(id, record_name(&loaded.path, plan), report, steps);
        let open = &self.outcome.unclosed;
        if !open.is_empty() {
            summary["unclosed"] = open.iter().map(view::runs::unclosed_json).collect();
        }
        summary
    }

    fn ending(&self) -> RunEnd {
        let (status, code) = match &self.outcome.halt {
            None if self.is_drifted() => (Status::Drifted, 0),
            None => (Status::Executed, 0),
            // 2 says that a configuration is a bad one, whatever its steps end with.
            Some(Halt::Failed(_)) if self.errand.subject.loaded.is_config() => {
                (Status::Failed, i32::from(Exit::Differs.code()))
            }
            Some(Halt::Failed(failure)) => (Status::Failed, failure.code),
            Some(Halt::Stopped(Why::Signal(number))) => (Status::Interrupted, 128 + number),
            // The time of the whole run is over.
            Some(Halt::Stopped(Why::TimedOut | Why::Cancelled)) => (Status::Failed, 124),
            Some(Halt::Unrecorded) => (Status::Failed, i32::from(Exit::Write.code())),
        };
        RunEnd { status, code }
    }

    fn is_drifted(&self) -> bool {
        self.errand.contract.as_ref().is_some_and(|held| !held.drift.is_empty())
    }

    fn failed<'f>(
        &'f self,
        failed: &'f FailedStep,
        ambient: &Ambient,
        vault: &Vault,
    ) -> Failed<'f> {
        let step = self.errand.resolved.plan.step(&failed.path);
        let id = step.and_then(|step| id(&self.errand.resolved.plan, step));
        let decorator = step.map_or("", |step| step.node.name());
        let place = step.map(|step| place(step, self.errand.subject.loaded, ambient));
        Failed::of(failed, id, decorator, place, vault)
    }

    /// Says how to see all that is no longer as described.
    fn with_verify_hint<'f>(&self, context: &Context<'_>, mut failed: Failed<'f>) -> Failed<'f> {
        if self.outcome.is_undone {
            let again = command_line::verify(context, self.errand.subject);
            failed.help.push(format!("to see what differs, run `{again}`"));
        }
        failed
    }
}

fn recorded<'f>(step: &'f FailedStep, vault: &Vault) -> record::Failed<'f> {
    let message = step.trouble.as_ref().map(|trouble| vault.scrub(&trouble.message).into_owned());
    record::Failed { path: &step.path, code: step.code, message }
}

/// What people call a step, or the only one in it.
fn id<'p>(plan: &'p Plan, step: &'p Step) -> Option<&'p str> {
    let name = resource::name(plan, step);
    match &*step.block {
        _ if name != &*step.path => Some(name),
        [only] => id(plan, only),
        _ => None,
    }
}
