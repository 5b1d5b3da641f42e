//! From a plan to an exit code: questions, the session, the record, the run, the last words.

pub(crate) mod again;
mod questions;
pub(crate) mod recording;
mod start;
mod unready;

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use opal_core::action::{Halt, Why};
use opal_core::hash::Digest;
use opal_core::plan::{Piece, Plan, Step};
use opal_core::record::Status;
use opal_runtime::execute::{self, Job, Outcome};
use opal_runtime::ledger::{ClaimError, Ledger};
use opal_runtime::plan::Resolved;
use opal_runtime::record::{self, Contract, Drifted, Ending, Silent};
use opal_runtime::script::Shell;
use opal_runtime::session::{LocalSession, Setup, Terminal};
use opal_runtime::stop::USUAL_GRACE;
use opal_runtime::vault::Vault;

use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning::Subject;
use crate::signals::Watched;
use crate::view;
use crate::view::run::{Failed, Live, Look, Report, summary_json};
use recording::Recording;

/// A plan that is to run, and where it comes from.
#[derive(Debug)]
pub(crate) struct Errand<'e> {
    pub(crate) subject: &'e Subject<'e>,
    pub(crate) resolved: &'e Resolved,
    pub(crate) watched: &'e Watched,
    /// The contract it is run under, and in what that is no longer true.
    pub(crate) contract: Option<(Contract, Vec<Drifted>)>,
    /// A contract that may run once: which.
    pub(crate) claim: Option<Digest>,
    /// The words that take it up again, where that can be.
    pub(crate) again: Option<String>,
}

/// Runs it to its end.
pub(crate) fn execute(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
) -> Result<Exit, Failure> {
    let Resolved { plan, secrets, declared, .. } = errand.resolved;
    let vault = Vault::new();
    execute::register(&vault, plan, secrets, declared);
    let live = Live::new(Look::of(context, asked), errand.watched.stop())?;
    let start = errand.subject.start()?;
    let session = session(context, asked, errand, start.clone())?;
    let from = start::from(context, asked, (&errand.subject.loaded.path, &start), plan)?;
    let stop = match asked.run.timeout {
        Some(limit) => {
            let limit = Duration::from_nanos(limit.as_nanos().unsigned_abs());
            errand.watched.stop().limited(limit, USUAL_GRACE)
        }
        None => errand.watched.stop().clone(),
    };
    let job = Job {
        plan,
        values: secrets,
        registry: &context.registry,
        session: &*session,
        start: &start,
        vault: &vault,
        recorder: &Silent,
        audience: &live,
        stop: &stop,
        jobs: asked.run.jobs.map(Into::into),
        from: from.as_deref(),
        stdin: true,
        clock: SystemTime::now,
    };
    let questions = execute::prepare(&job)
        .and_then(|()| execute::questions(&job).map_err(|unready| vec![unready]));
    let questions = match questions {
        Ok(questions) => questions,
        Err(unready) => return unready::tell(context, asked, errand.subject, unready, &vault),
    };
    if session.shell() == Some(Shell::Sh) && has_pipeline(&plan.steps) {
        view::plan::note("there is no bash here: a pipe fails only where its last command does");
    }
    if let Some(exit) = questions::ask(&questions, &vault, asked.run.yes, errand.watched)? {
        return Ok(exit);
    }
    let (contract, drift) = errand.contract.clone().unzip();
    let source = &errand.subject.loaded.path;
    let header =
        recording::header(context, (source, &start), plan, contract, drift.unwrap_or_default());
    let recording = Recording::begin(context, asked, header, plan)?;
    context.stages.end("prepare");
    let began = Instant::now();
    if let Some(Err(failure)) = errand.claim.map(|contract| claim(context, asked, &contract)) {
        recording.finish(&refused(&failure))?;
        return Err(failure);
    }
    let outcome = execute::execute(&Job { recorder: &recording, ..job });
    if matches!(outcome.halt, Some(Halt::Stopped(_))) {
        session.end_all(USUAL_GRACE, &stop);
    }
    let end = End { errand, outcome: &outcome, took: began.elapsed() };
    end.tell(context, asked, &live, recording, &vault)
}

fn session(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    start: PathBuf,
) -> Result<Arc<LocalSession>, Failure> {
    let terminal = terminal(context, asked, errand.watched);
    let on_terminal = terminal.is_some();
    let session = Arc::new(LocalSession::new(Setup {
        environment: context.environment(&asked.plan.env_files)?.clone(),
        start,
        home: context.ambient.home.clone(),
        marker: u32::from_le_bytes(opal_runtime::keys::name()).to_string(),
        terminal,
    }));
    if on_terminal {
        // What is on the terminal ends with the session, in good order.
        let resized = Arc::downgrade(&session);
        errand.watched.on_resize(move || resized.upgrade().iter().for_each(|it| it.resized()));
    }
    Ok(session)
}

/// The terminal that steps run on; none where opal itself is not on one from end to end.
fn terminal(context: &Context<'_>, asked: &Asked, watched: &Watched) -> Option<Terminal> {
    let ambient = context.ambient;
    if asked.run.no_pty || asked.stdout_is_json() || !ambient.is_interactive() {
        return None;
    }
    let program = std::env::current_exe().ok()?;
    let interrupts = watched.interrupts().clone();
    Some(Terminal {
        device: std::io::stdin().as_fd().try_clone_to_owned().ok()?,
        leader: vec![program.into_os_string(), crate::LEADER.into()],
        on_signal: Box::new(move |signal| interrupts.heard(signal)),
    })
}

/// Whether the text of a step may hold a pipe.
fn has_pipeline(steps: &[Step]) -> bool {
    let pipes = |text: &str| text.replace("||", "").contains('|');
    steps.iter().any(|step| {
        let mut pieces = step.command().unwrap_or_default().iter();
        pieces.any(|piece| matches!(piece, Piece::Text(text) if pipes(text)))
            || has_pipeline(&step.block)
    })
}

/// Marks a contract for a single run as used. Nothing has run yet.
fn claim(context: &Context<'_>, asked: &Asked, contract: &Digest) -> Result<(), Failure> {
    let root = context.needed_root(asked.plan.root.as_ref())?;
    Ledger::new(&root).claim(contract).map_err(|error| match error {
        ClaimError::AlreadyUsed => Failure::new(
            Exit::Refused,
            "the contract was made for a single run, and has just had it",
            "make a new contract: `opal plan TASK -o FILE`",
        ),
        ClaimError::Root(error) => Failure::new(Exit::Write, error.to_string(), error.help())
            .help("a contract for a single run needs a place that remembers it"),
    })
}

fn refused(failure: &Failure) -> Ending<'static> {
    Ending {
        at: SystemTime::now(),
        took: Duration::ZERO,
        status: Status::Refused,
        code: i32::from(failure.exit.code()),
        failed: None,
    }
}

/// How a run ended, and what there is to say about it.
struct End<'e> {
    errand: &'e Errand<'e>,
    outcome: &'e Outcome,
    took: Duration,
}

impl End<'_> {
    /// The last words, to the record and to people. Gives the exit code.
    fn tell(
        &self,
        context: &Context<'_>,
        asked: &Asked,
        live: &Live,
        recording: Recording<'_>,
        vault: &Vault,
    ) -> Result<Exit, Failure> {
        let (status, code) = self.status();
        let failed = self.outcome.failed.as_ref();
        let message = failed.and_then(|step| Some(vault.scrub(&step.trouble.as_ref()?.message)));
        let ending = Ending {
            at: SystemTime::now(),
            took: self.took,
            status,
            code,
            failed: failed.map(|step| record::Failed {
                path: &step.path,
                code: step.code,
                message,
            }),
        };
        let id = recording.id().map(ToString::to_string);
        let folder = recording.folder().map(PathBuf::from);
        let kept = recording.finish(&ending);
        let is_open = matches!(self.outcome.halt, Some(Halt::Failed(_) | Halt::Stopped(_)));
        let is_open = is_open && folder.as_deref().is_some_and(start::can_be_taken_up);
        let resume = self.errand.again.as_deref().filter(|_| is_open);
        let found = failed.map(|step| (step, find(&self.errand.resolved.plan, &step.path)));
        let line = found.and_then(|(_, step)| self.line(step?));
        let file = context.ambient.in_workspace(&self.errand.subject.loaded.path);
        let report = Report {
            status,
            code,
            took: self.took,
            steps: self.outcome.steps,
            failed: found.map(|(failed, step)| {
                let decorator = step.map_or("", |step| &*step.decorator);
                let place = line.map(|line| (file.as_str(), line));
                Failed::of(failed, decorator, place, vault)
            }),
            resume,
            record: folder.as_deref(),
        };
        live.finish(&report);
        if asked.plan.is_json() {
            let source = &self.errand.subject.loaded.path;
            let target = recording::target(source, &self.errand.resolved.plan);
            view::print_json(&summary_json(id.as_deref(), target, &report))?;
        }
        context.stages.end("run");
        let loaded = self.errand.subject.loaded;
        view::trace::telemetry(context, loaded, &self.errand.resolved.plan, &asked.plan);
        kept?;
        match live.trouble() {
            Some(failure) => Err(failure),
            None => Ok(Exit::Step(u8::try_from(code).unwrap_or(1))),
        }
    }

    fn status(&self) -> (Status, i32) {
        match &self.outcome.halt {
            None if self.is_drifted() => (Status::Drifted, 0),
            None => (Status::Executed, 0),
            Some(Halt::Failed(failure)) => (Status::Failed, failure.code),
            Some(Halt::Stopped(Why::Signal(number))) => (Status::Interrupted, 128 + number),
            // The time of the whole run is over.
            Some(Halt::Stopped(Why::TimedOut | Why::Cancelled)) => (Status::Failed, 124),
            Some(Halt::Unrecorded) => (Status::Failed, i32::from(Exit::Write.code())),
        }
    }

    fn is_drifted(&self) -> bool {
        self.errand.contract.as_ref().is_some_and(|(_, drift)| !drift.is_empty())
    }

    /// The line of a step, from 1.
    fn line(&self, step: &Step) -> Option<u32> {
        let text = &self.errand.subject.loaded.text;
        let before = text.get(..step.span.range().start)?;
        u32::try_from(before.matches('\n').count() + 1).ok()
    }
}

fn find<'p>(plan: &'p Plan, path: &str) -> Option<&'p Step> {
    let mut open: Vec<&Step> = plan.steps.iter().collect();
    while let Some(step) = open.pop() {
        if &*step.path == path {
            return Some(step);
        }
        open.extend(&step.block);
    }
    None
}
