//! Which events are worth a line, and which line.
//!
//! | what | where |
//! |---|---|
//! | failures, and what deals with them | `failures` |
//! | steps that start, and whose they are | `starts` |
//! | steps that describe a state | `resources` |
//! | what steps print, alone and side by side | `side` |
//! | the targets of a fleet | `targets` |
//! | events that are shown once for several targets | `alike` |

mod alike;
mod failures;
mod resources;
mod side;
mod starts;
mod targets;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opal_core::action::{Level, ObjectNews};
use opal_core::stream::{Closed, Stream};
use opal_core::view::visible;
use opal_vault::Shown;
use opal_vault::event::{End, Event, Finished, Kind, Status};

use super::super::ink::Ink;
use super::ends::Ends;
use super::foreign::Foreign;
use super::report::{self, Report, Taken};
use super::screen::Screen;
use super::style::{Of, Style, Talk};
use super::tail::Tail;
use super::waits::Waits;
use super::{github, words};
use failures::{Attempt, Held};
use resources::Unsaid;
use side::Lane;
use starts::Head;

#[derive(Debug)]
pub(super) struct State {
    style: Style,
    ink: Ink,
    screen: Screen,
    running: BTreeMap<u64, Running>,
    /// Steps on targets that have started.
    foreign: BTreeMap<u64, Foreign>,
    /// The paths of steps that are looked at before anything is said about them.
    pub(super) resources: BTreeSet<Box<str>>,
    /// By path: those that have started.
    unsaid: BTreeMap<Spot, Unsaid>,
    pub(super) ends: Ends,
    /// The last lines of the last steps that failed.
    failed: VecDeque<(u64, Tail)>,
    /// The step that has printed last: what it printed is still in sight.
    in_sight: Option<u64>,
    /// A failure that something may yet deal with.
    held: Option<Held>,
    /// By the paths of `@retry`s: the last attempt that failed, and of how many.
    attempts: BTreeMap<Spot, Attempt>,
    /// By the paths of steps in branches: what their lines begin with.
    prefixes: BTreeMap<Spot, String>,
    /// The target of what is told now; none on opal's machine.
    at: Option<Arc<str>>,
    /// The target, or the targets, whose steps were shown last; none on opal's machine.
    site: Option<Arc<str>>,
    /// How far a fleet has come, said before the next target.
    news: Option<String>,
    /// The task whose steps were shown last; at first the target.
    pub(super) task: Option<String>,
    /// Branches are shown side by side.
    is_prefixed: bool,
    /// The steps whose standard output nobody read to its end.
    unread: BTreeSet<u64>,
    waits: Waits,
    drawn_at: Option<Instant>,
    /// There is a thread that draws.
    pub(super) is_drawing: bool,
    pub(super) is_over: bool,
    taken: Vec<Taken>,
    not_taken: usize,
    /// The step whose output is in a group of a workflow.
    group: Option<u64>,
}

/// A step, and the target that it runs on: on all targets of a fleet the paths are the same.
type Spot = (Option<Arc<str>>, Box<str>);

#[derive(Debug)]
struct Running {
    /// For the table of times.
    text: String,
    tail: Tail,
    lane: Option<Lane>,
}

/// Steps that failed and of which the last lines are kept: most were dealt with.
const MAX_FAILED: usize = 16;

/// Rows of the table of times.
const MAX_TAKEN: usize = 10_000;

/// Between two drawings.
const DRAW_AGAIN: Duration = Duration::from_millis(100);

impl State {
    pub(super) fn new(style: Style, screen: Screen) -> Self {
        Self {
            style,
            ink: style.ink,
            screen,
            running: BTreeMap::new(),
            foreign: BTreeMap::new(),
            resources: BTreeSet::new(),
            unsaid: BTreeMap::new(),
            ends: Ends::default(),
            failed: VecDeque::new(),
            in_sight: None,
            held: None,
            attempts: BTreeMap::new(),
            prefixes: BTreeMap::new(),
            at: None,
            site: None,
            news: None,
            task: None,
            is_prefixed: false,
            unread: BTreeSet::new(),
            waits: Waits::default(),
            drawn_at: None,
            is_drawing: false,
            is_over: false,
            taken: Vec::new(),
            not_taken: 0,
            group: None,
        }
    }

    /// Lines of opal's own.
    fn say(&mut self, text: &str) {
        self.screen.line(text);
    }

    fn usual(&mut self, text: impl FnOnce(Ink) -> String) {
        if self.style.talk >= Talk::Usual {
            self.say(&text(self.ink));
        }
    }

    fn verbose(&mut self, text: impl FnOnce(Ink) -> String) {
        if self.style.talk == Talk::Verbose {
            self.say(&text(self.ink));
        }
    }

    /// Whether something is waited for that can be shown.
    pub(super) fn waits(&self) -> bool {
        self.screen.is_terminal() && self.style.talk > Talk::Quiet && !self.waits.is_empty()
    }

    /// Draws how it stands, unless that has just been done.
    pub(super) fn draw(&mut self, now: Instant) {
        let is_due = |then| now.saturating_duration_since(then) >= DRAW_AGAIN;
        if self.waits() && self.drawn_at.is_none_or(is_due) {
            let lines = self.waits.lines(now, self.is_prefixed);
            self.screen.draw(&lines);
            self.drawn_at = Some(now);
        }
    }

    pub(super) fn trouble(&self) -> Option<&io::Error> {
        self.screen.trouble()
    }

    /// Nothing is shown after this.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.screen.erase();
    }

    pub(super) fn event(&mut self, event: &Event<'_>, of: Of<'_>) {
        if event.alike.as_ref().is_some_and(|alike| !alike.is_shown) {
            return self.count(&event.kind);
        }
        self.at.clone_from(&event.target);
        match &event.kind {
            Kind::Started(started) => {
                self.name_site(started, event);
                if event.target.is_some() {
                    self.foreign.insert(started.number, Foreign::default());
                }
                self.started(started, of.task);
            }
            Kind::Finished(finished) => self.finished(finished, of.place),
            Kind::Caught { path, code, .. } => self.caught(path, *code, of.place),
            Kind::Skipped { path, decorator, why } => {
                if self.resources.contains(*path) {
                    self.ends.skipped(path, why.as_ref());
                }
                self.skipped(path, decorator, why.as_ref(), of.label);
            }
            Kind::Retrying { path, attempt, of, code, pause } => {
                self.retrying(path, Attempt { number: *attempt, of: *of }, *code, *pause);
                // Told late where it was held back: then there is less to wait for, or nothing.
                let passed = crate::clock::now().duration_since(event.at).unwrap_or_default();
                let left = pause.saturating_sub(passed);
                if let Some(until) = Instant::now().checked_add(left).filter(|_| !left.is_zero()) {
                    self.waits.pause(path, until);
                }
            }
            Kind::Log { path, level, message } => self.log(path, *level, &message.text()),
            // What it made itself is in the record.
            Kind::Object { path, identity, news: ObjectNews::Adopted, .. } => {
                let identity = identity.as_ref().map(Shown::text);
                let what = identity.as_deref().unwrap_or("an object that was there");
                self.log(path, Level::Info, &format!("adopted {what}"));
            }
            Kind::CleaningUp { why } => {
                self.release();
                self.say(&format!("Cleaning up… ({})", visible::line(why)));
            }
            Kind::Verified { path, status, message, details } => {
                if self.style.stdout_is_json {
                    self.ends.verified(path, *status, message, details.as_ref());
                }
                self.verified(path, *status, message, details.as_ref());
            }
            // The failure of the run says so.
            Kind::Undone { path, message, .. } => self.ends.undone(path, message),
            // The record has them.
            Kind::Fleet { .. }
            | Kind::TargetEnded { .. }
            | Kind::Opened { .. }
            | Kind::Closed { .. }
            | Kind::Object { .. } => {}
            Kind::Targets { rows, .. } => self.targets(rows),
            Kind::Branches { path, count, most } => self.verbose(|ink| {
                let limit = (most < count).then(|| format!(", at most {most} at a time"));
                format!("{count} in parallel{} {}", limit.unwrap_or_default(), ink.path(path))
            }),
        }
    }

    pub(super) fn output(
        &mut self,
        number: u64,
        stream: Stream,
        bytes: &[u8],
    ) -> Result<(), Closed> {
        if let Some(running) = self.running.get_mut(&number) {
            running.tail.push(bytes);
        }
        let written = match self.side_output(number, stream, bytes) {
            Some(written) => written,
            None => {
                self.in_sight = Some(number);
                self.own_output(number, stream, bytes)
            }
        };
        if written.is_err() && self.screen.is_unread() {
            self.unread.insert(number);
        }
        written
    }

    fn finished(&mut self, step: &Finished<'_>, place: Option<&str>) {
        if self.resources.contains(step.path) {
            self.ends.finished(step);
        }
        self.waits.finished(step.path);
        self.say_unsaid(step.path);
        let prefix = self.prefix(step.path);
        self.leave_branch(step.number, step.path);
        self.leave_target(step.number);
        if let Some(running) = self.running.remove(&step.number) {
            if !step.end.is_good() {
                self.failed.truncate(MAX_FAILED - 1);
                self.failed.push_front((step.number, running.tail));
            }
            self.note_time(step, running.text);
        }
        if self.group == Some(step.number) {
            self.group = None;
            self.in_sight = None;
            self.say(github::END_GROUP);
        }
        self.verbose(|ink| {
            let took = words::time(step.took);
            let how = match step.end {
                End::Done => format!("done in {took}"),
                End::Satisfied => format!("satisfied, verified in {took}"),
                End::Failed => format!("{} after {took}", words::ending(step.code)),
                End::TimedOut => format!("timed out after {took}"),
                End::Stopped => format!("stopped after {took}"),
            };
            format!("{prefix}  {how} {}", ink.path(step.path))
        });
        // A step that passes on the failure of another has nothing to add; of one that timed out, the
        // step or the run whose limit it was says so.
        let is_own = step.end == End::Failed && !step.passes_on;
        let is_unread = self.unread.contains(&step.number);
        if !is_unread && (is_own && !step.is_block || step.message.is_some()) {
            self.release();
            self.held = Some(Held::new(step, place, prefix.clone(), self.at.clone()));
        }
        self.last_attempt(step, &prefix);
    }

    fn note_time(&mut self, step: &Finished<'_>, text: String) {
        if self.style.timings && self.taken.len() < MAX_TAKEN {
            let path = visible::line(step.path);
            self.taken.push(Taken { path, text, took: step.took });
        } else if self.style.timings {
            self.not_taken += 1;
        }
    }

    fn log(&mut self, path: &str, level: Level, message: &str) {
        let (label, least) = match level {
            Level::Debug => (self.ink.faint("debug"), Talk::Verbose),
            Level::Info => (self.ink.mark("info"), Talk::Usual),
            Level::Warn => (self.ink.warning("warning"), Talk::Usual),
            Level::Error => (self.ink.error("error"), Talk::Quiet),
        };
        if self.style.talk >= least {
            self.release();
            self.in_sight = None;
            let prefix = self.prefix(path);
            let next = format!("\n{prefix}  ");
            let message = visible::lines(message.trim_end()).replace('\n', &next);
            self.say(&format!("{prefix}{label}: {message}"));
        }
    }

    pub(super) fn finish(&mut self, report: &Report<'_>) {
        self.waits.clear();
        let number = report.failed.as_ref().and_then(|failed| failed.number);
        // What the report says is not said before it.
        let is_told = |held: &Held| {
            let all = report.failed.iter().chain(&report.beside);
            all.map(|failed| failed.number).any(|number| number == Some(held.number))
        };
        let is_good = matches!(report.status, Status::Executed | Status::Drifted);
        if is_good && report.steps.failed == 0 {
            // The tool of a module has found a difference: that is its exit code, and no failure.
            self.held = None;
        }
        if self.held.as_ref().is_some_and(|held| !is_told(held)) {
            self.release();
        }
        // Who closed the output knows why it ended.
        if number.is_some_and(|number| self.unread.contains(&number)) {
            return;
        }
        if self.group.take().is_some() {
            self.say(github::END_GROUP);
        }
        if self.style.timings {
            let table = report::timings(&self.taken, self.not_taken);
            self.in_sight = None;
            self.say(&table);
        }
        if !is_good {
            let tail = match self.failed.iter().find(|(failed, _)| Some(*failed) == number) {
                Some((_, tail)) if self.in_sight != number => tail.lines(),
                _ => Vec::new(),
            };
            if let Some(failure) = report::failure(report, &tail, self.ink) {
                self.say(&failure);
            }
            if self.style.github {
                let all = report.failed.iter().chain(&report.beside);
                all.for_each(|failed| self.say(&github::error(failed)));
            }
        }
        if !is_good || self.style.talk > Talk::Quiet {
            if let Some(hidden) = report::hidden(report, self.ink) {
                self.say(&hidden);
            }
            self.say(&report::closing(report, self.ink));
        }
    }
}
