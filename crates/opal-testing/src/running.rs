//! A plan that is run, and what came of it.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use crate::LoggedSession;
use opal_core::action::{Halt, ObjectNews};
use opal_core::stream::{Closed, Stream};
use opal_exec::execute::{self, Fencing, Job, Outcome, ShownBranches, Unready};
use opal_exec::verify::Report;
use opal_plan::plan::Resolved;
use opal_session::Session;
use opal_session::stop::Stop;
use opal_session::targets::Reach;
use opal_vault::Shown;
use opal_vault::Vault;
use opal_vault::event::{Event, Kind};
use opal_vault::targets::{FleetTable, TargetRow};
use opal_vault::witness::{Audience, Progress, Recorder, Unrecorded};

use crate::planning::Project;
use crate::{LoggedFencing, LoggedReach};

#[derive(Debug)]
pub struct Running<'s> {
    pub project: Project,
    pub session: &'s dyn Session,
    pub reach: Option<LoggedReach>,
    pub start: &'s Path,
    pub from: Option<String>,
    /// How the targets of fleets ended in the run that is resumed.
    pub earlier: Vec<FleetTable>,
    pub jobs: Option<usize>,
    pub output: ShownBranches,
    /// The verification of everything before the run.
    pub known: Option<Report>,
    pub stop: Stop,
    /// Events that the record takes before it is full.
    pub room: Option<usize>,
    /// Who is asked, where the run has an order.
    pub fence: Option<&'s LoggedFencing>,
    /// Nobody reads the output.
    pub closed: bool,
}

#[derive(Debug)]
pub struct Ran {
    pub outcome: Outcome,
    pub seen: Vec<String>,
    pub record: Vec<String>,
    pub progress: Vec<String>,
}

impl<'s> Running<'s> {
    pub fn new(source: &str, session: &'s LoggedSession) -> Self {
        Self::on(Project::new(source), session, Path::new("/p"))
    }

    pub fn on(project: Project, session: &'s dyn Session, start: &'s Path) -> Self {
        let (from, jobs, known, room) = (None, None, None, None);
        let stop = Stop::new();
        let output = ShownBranches::GROUPED;
        let (reach, closed) = (None, false);
        let earlier = Vec::new();
        Self {
            project,
            session,
            reach,
            start,
            from,
            earlier,
            jobs,
            output,
            known,
            stop,
            room,
            fence: None,
            closed,
        }
    }

    pub fn plan(&self) -> Resolved {
        self.project.plan().unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(|error| self.project.line(error)).collect::<String>())
        })
    }

    /// What is asked before the first step.
    pub fn questions(&self) -> Vec<String> {
        let ask = |job: &Job<'_>, _: &Resolved| execute::questions(job).unwrap();
        let (asked, _) = self.job(ask);
        asked.iter().map(|question| question.message.expose().to_owned()).collect()
    }

    fn job<T>(&self, work: impl FnOnce(&Job<'_>, &Resolved) -> T) -> (T, Witness) {
        let resolved = self.plan();
        let vault = Vault::new();
        execute::register(&vault, &resolved.showing);
        let witness = Witness { room: self.room, closed: self.closed, ..Witness::default() };
        let job = Job {
            plan: &resolved.plan,
            values: &resolved.secrets,
            showing: &resolved.showing,
            registry: &self.project.registry,
            session: self.session,
            reach: self.reach.as_ref().map(|reach| reach as &dyn Reach),
            start: self.start,
            base: self.start,
            vault: &vault,
            recorder: &witness,
            audience: &witness,
            stop: &self.stop,
            jobs: self.jobs,
            output: self.output,
            from: self.from.as_deref(),
            earlier: &self.earlier,
            unreached: &resolved.unreached,
            selected: None,
            known: self.known.as_ref(),
            is_declared: false,
            is_under_contract: self.fence.is_some(),
            trace: None,
            fence: self.fence.map(|fence| fence as &dyn Fencing),
            stdin: false,
            clock: || SystemTime::UNIX_EPOCH,
        };
        let done = work(&job, &resolved);
        (done, witness)
    }

    pub fn run(&self) -> Ran {
        let (outcome, witness) = self.job(|job, _| {
            execute::prepare(job).unwrap_or_else(|unready| panic!("{unready:?}"));
            execute::execute(job)
        });
        Ran {
            outcome,
            seen: witness.seen.into_inner().unwrap(),
            record: witness.record.into_inner().unwrap(),
            progress: witness.progress.into_inner().unwrap(),
        }
    }

    pub fn unready(&self) -> Vec<Unready> {
        self.job(|job, _| execute::prepare(job)).0.expect_err("it is ready")
    }
}

impl Ran {
    pub fn ok(&self) {
        assert_eq!(self.outcome.halt, None, "{:#?}", self.seen);
    }

    /// Path, code and words of the failure.
    pub fn failure(&self) -> String {
        match &self.outcome.halt {
            Some(Halt::Failed(failure)) => {
                let trouble = failure.trouble.as_ref();
                let words = trouble.map_or(String::new(), |it| format!(": {}", it.message));
                format!("{} {}{words}", failure.path, failure.code)
            }
            other => panic!("{other:?} is not a failure: {:#?}", self.seen),
        }
    }

    /// What was printed, and nothing else.
    pub fn output(&self) -> Vec<&str> {
        let printed = self.seen.iter().filter(|it| it.starts_with("out") || it.starts_with("err"));
        printed.filter_map(|line| line.split_once("> ")).map(|(_, text)| text).collect()
    }
}

/// Writes down every event.
#[derive(Default)]
struct Witness {
    seen: Mutex<Vec<String>>,
    record: Mutex<Vec<String>>,
    progress: Mutex<Vec<String>>,
    room: Option<usize>,
    closed: bool,
}

fn event(event: &Event<'_>) -> String {
    match &event.kind {
        Kind::Started(it) => {
            let again = if it.attempt > 1 { format!(" #{}", it.attempt) } else { String::new() };
            let opens = if it.is_block { " {" } else { "" };
            let branch = it.branch.as_ref().map(|branch| format!(" [{}]", branch.name.text()));
            let branch = branch.unwrap_or_default();
            format!("start {}{again}{branch}: {}{opens}", it.path, it.text.text())
        }
        Kind::Finished(it) => {
            let said = it.message.as_ref().map_or(String::new(), |it| format!(": {}", it.text()));
            format!("{} {} {}{said}", it.end.name(), it.path, it.code)
        }
        Kind::Skipped { path, why, .. } => {
            let why = why.as_ref().map_or(String::new(), |why| format!(": {}", why.text()));
            format!("skip {path}{why}")
        }
        Kind::Retrying { attempt, of, code, pause, .. } => {
            format!("retry {attempt}/{of} after {code} in {pause:?}")
        }
        Kind::Caught { path, code, .. } => format!("caught {path} {code}"),
        Kind::Log { level, message, .. } => format!("{}: {}", level.name(), message.text()),
        Kind::CleaningUp { why } => format!("cleaning up: {why}"),
        Kind::Opened { object, .. } => format!("opened: {}", object.named()),
        Kind::Closed { .. } => "closed".to_owned(),
        Kind::Object { news: ObjectNews::Adopted, .. } => "adopted".to_owned(),
        Kind::Object { news: ObjectNews::Made, .. } => "object".to_owned(),
        Kind::Object { news: ObjectNews::Intended(deed), .. } => format!("about to {deed}"),
        Kind::Undone { path, .. } => format!("undone: {path}"),
        Kind::Verified { status, message, .. } => {
            format!("{}: {}", status.name(), message.text())
        }
        Kind::Branches { count, most, .. } => format!("{count} branches, {most} at a time"),
        Kind::Fleet { names, .. } => format!("{} targets", names.len()),
        Kind::TargetEnded { row, .. } => format!("{} ended: {}", row.name, row.end.name()),
        Kind::Targets { rows, .. } => {
            let row = |row: &TargetRow| {
                let step = row.step.as_ref().map(|step| format!(" `{}`", step.text()));
                let code = row.code.map(|code| format!(" {code}"));
                let (name, end) = (&row.name, row.end.name());
                format!("{name} {end}{}{}", step.unwrap_or_default(), code.unwrap_or_default())
            };
            rows.iter().map(row).collect::<Vec<_>>().join(", ")
        }
    }
}

fn output(number: u64, stream: Stream, bytes: &Shown<'_>) -> String {
    let name = if stream == Stream::Stdout { "out" } else { "err" };
    format!("{name} {number}> {}", bytes.text())
}

impl Recorder for Witness {
    fn event(&self, reported: &Event<'_>) -> Result<(), Unrecorded> {
        let mut record = self.record.lock().unwrap();
        if self.room.is_some_and(|room| record.len() >= room) {
            return Err(Unrecorded);
        }
        record.push(event(reported));
        Ok(())
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded> {
        self.record.lock().unwrap().push(output(number, stream, bytes));
        Ok(())
    }
}

impl Audience for Witness {
    fn event(&self, reported: &Event<'_>) {
        self.seen.lock().unwrap().push(event(reported));
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Closed> {
        if self.closed {
            return Err(Closed);
        }
        self.seen.lock().unwrap().push(output(number, stream, bytes));
        Ok(())
    }

    fn has_terminal(&self, _: u64) {}

    fn progress(&self, progress: &Progress<'_>) {
        let running: Vec<_> = progress.running.iter().map(|it| it.text.text()).collect();
        let Progress { total, done, failed, .. } = progress;
        let line = format!("{done}/{total}, {failed} failed: {}", running.join(" | "));
        self.progress.lock().unwrap().push(line);
    }
}

/// Long enough to be interrupted.
pub const LONG: Duration = Duration::from_secs(60);

pub fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The log of a source that is run to its end.
pub fn log(source: &str) -> Vec<String> {
    let session = LoggedSession::new();
    Running::new(source, &session).run().ok();
    session.log()
}
