//! What had started and what had finished.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::event::End;
use serde_json::Value;

use super::fleets::Fleets;
use super::{Events, Unreadable};
use opal_core::gather;
use opal_core::gather::Gather as _;

/// One start of a step, or a step that was skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// As its events have it; none where it was skipped.
    pub number: Option<u64>,
    /// The same counted in the order of reading, which does not depend on which target was faster.
    pub position: Option<u64>,
    /// The target that it ran on; none on opal's machine.
    pub target: Option<String>,
    pub path: String,
    pub decorator: String,
    /// As the plan shows it.
    pub text: String,
    pub attempt: u64,
    pub is_block: bool,
    pub started_at: Option<String>,
    /// What its verifications found, where it describes a state.
    pub verifications: Vec<StepVerification>,
    /// None where nobody wrote that it has finished.
    pub finish: Option<Finish>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// `done`, `satisfied`, `failed`, `timed_out`, `stopped`; `skipped` where it never started.
    pub end: String,
    pub code: i64,
    pub took_ms: f64,
    /// It timed out by its own limit, and not by that of something around it.
    pub is_own_limit: bool,
    pub message: Option<String>,
}

/// What the verification of a resource found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepVerification {
    /// `satisfied`, `missing`, `drifted`, `blocked`, `unknown`.
    pub status: String,
    pub message: String,
    /// A unified diff, or what else there was to say in several lines.
    pub details: Option<String>,
}

impl Step {
    /// `started` as long as nobody wrote how it ended.
    #[must_use]
    pub fn end(&self) -> &str {
        self.finish.as_ref().map_or("started", |finish| &finish.end)
    }

    /// It had begun, and something around it ended before it did.
    fn was_cut_short(&self) -> bool {
        match &self.finish {
            None => true,
            Some(finish) if finish.end == "timed_out" => !finish.is_own_limit,
            Some(finish) => finish.end == "stopped",
        }
    }
}

/// The step that a run was at when it was stopped; none where it was between two, or at none yet.
///
/// A block that ended in its own way has dealt with what was cut short in it: another attempt was
/// made, or a failure was caught. Where the next attempt had not begun yet, it is the step that the last
/// one failed at.
pub(super) fn cut_short(folder: &Path) -> Result<Option<String>, Unreadable> {
    let Read { mut steps, fleets } = read(folder)?;
    // A fleet says itself how far each of its targets has come.
    let is_in_fleet = |path: &str| around(path).skip(1).any(|path| fleets.contains(path));
    steps.retain(|step| !is_in_fleet(&step.path));
    let is_whole = |step: &Step| !step.is_block || fleets.contains(&step.path);
    let last: BTreeMap<&str, &Step> = steps.iter().map(|step| (&*step.path, step)).gathered();
    let is_open = |path: &str| last.get(path).is_none_or(|step| step.was_cut_short());
    let found = steps.iter().find(|step| is_whole(step) && around(&step.path).all(is_open));
    let is_retried = |path: &str| {
        last.get(path).is_some_and(|step| step.decorator == "@retry") && around(path).all(is_open)
    };
    let has_failed = |step: &&Step| {
        let is_failure = !step.is_block && matches!(step.end(), "failed" | "timed_out");
        is_failure && around(&step.path).any(is_retried)
    };
    let found = found.or_else(|| steps.iter().rev().find(has_failed));
    Ok(found.map(|step| step.path.clone()))
}

/// A path, and those of what is around it.
fn around(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| Some(path.rsplit_once('.')?.0))
}

/// The steps of a run in the order in which they started; those of a fleet by target, and then in that
/// order.
pub fn steps(folder: &Path) -> Result<Vec<Step>, Unreadable> {
    read(folder).map(|read| read.steps)
}

struct Read {
    steps: Vec<Step>,
    /// The paths of fleets.
    fleets: BTreeSet<String>,
}

/// Where a step is read: with the fleet that it is in, then its target, then by its start.
type Order = (usize, usize, usize);

/// What the events have reported so far.
#[derive(Default)]
struct Reading {
    steps: Vec<(Order, Step)>,
    /// By number.
    places: BTreeMap<u64, usize>,
    /// By target and path: verifications name no start, so the last one is meant.
    latest: BTreeMap<(Option<String>, String), usize>,
    fleets: Fleets,
    /// By the paths of fleets.
    begun: BTreeMap<String, usize>,
}

fn read(folder: &Path) -> Result<Read, Unreadable> {
    let mut reading = Reading::default();
    let mut events = Events::open(folder)?;
    while let Some(event) = events.next_of_steps()? {
        reading.event(&event);
    }
    let Reading { mut steps, begun, .. } = reading;
    gather::sort_by_key(&mut steps, |(order, _)| *order);
    let mut steps: Vec<Step> = steps.into_iter().map(|(_, step)| step).collect();
    let started = steps.iter_mut().filter(|step| step.number.is_some());
    started.zip(1..).for_each(|(step, position)| step.position = Some(position));
    Ok(Read { steps, fleets: begun.into_keys().collect() })
}

impl Reading {
    fn event(&mut self, event: &Value) {
        match event["kind"].as_str() {
            Some("fleet_started") => {
                self.fleets.begins(event);
                let at = self.latest.get(&key(event)).copied().unwrap_or(self.steps.len());
                self.begun.insert(text(event, "path"), at);
            }
            Some("step_started") => {
                let at = self.steps.len();
                self.places.extend(event["number"].as_u64().map(|number| (number, at)));
                self.latest.insert(key(event), at);
                self.add(event, None);
            }
            Some("step_skipped") => {
                let end = "skipped".to_owned();
                let message = event["why"].as_str().map(str::to_owned);
                let finish = Finish { end, code: 0, took_ms: 0.0, is_own_limit: false, message };
                self.add(event, Some(finish));
            }
            Some("step_verified") => {
                if let Some(step) = self.latest(event) {
                    step.verifications.push(StepVerification {
                        status: text(event, "status"),
                        message: text(event, "message"),
                        details: event["details"].as_str().map(str::to_owned),
                    });
                }
            }
            Some("step_undone") => {
                if let Some(finish) = self.latest(event).and_then(|step| step.finish.as_mut()) {
                    finish.end = End::Failed.name().to_owned();
                    finish.code = 1;
                    finish.message = event["message"].as_str().map(str::to_owned);
                }
            }
            Some("step_finished") => {
                let place = event["number"].as_u64().and_then(|number| self.places.get(&number));
                if let Some((_, step)) = place.and_then(|&place| self.steps.get_mut(place)) {
                    step.finish = Some(finish(event));
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, event: &Value, finish: Option<Finish>) {
        let at = self.steps.len();
        let step = begun(event, finish);
        let order = match self.fleets.place(&step.path, step.target.as_deref()) {
            Some((fleet, place)) => (self.begun.get(fleet).copied().unwrap_or(at), place + 1, at),
            None => (at, 0, at),
        };
        self.steps.push((order, step));
    }

    fn latest(&mut self, event: &Value) -> Option<&mut Step> {
        let place = *self.latest.get(&key(event))?;
        self.steps.get_mut(place).map(|(_, step)| step)
    }
}

fn key(event: &Value) -> (Option<String>, String) {
    (event["target"].as_str().map(str::to_owned), text(event, "path"))
}

fn finish(event: &Value) -> Finish {
    Finish {
        end: text(event, "end"),
        code: event["code"].as_i64().unwrap_or_default(),
        took_ms: event["took_ms"].as_f64().unwrap_or_default(),
        is_own_limit: event["own_limit"].as_bool().unwrap_or_default(),
        message: event["message"].as_str().map(str::to_owned),
    }
}

fn begun(event: &Value, finish: Option<Finish>) -> Step {
    Step {
        number: event["number"].as_u64(),
        position: None,
        target: event["target"].as_str().map(str::to_owned),
        path: text(event, "path"),
        decorator: text(event, "decorator"),
        text: text(event, "text"),
        attempt: event["attempt"].as_u64().unwrap_or(1),
        is_block: event["block"].as_bool().unwrap_or(false),
        started_at: event["at"].as_str().map(str::to_owned).filter(|_| finish.is_none()),
        verifications: Vec::new(),
        finish,
    }
}

fn text(event: &Value, name: &str) -> String {
    event[name].as_str().unwrap_or_default().to_owned()
}
