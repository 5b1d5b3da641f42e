//! Gathers what a report is made of, while a run goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use opal_core::gather::Gather as _;
use opal_core::stream::Stream;
use opal_vault::event::{End, Event, Finished, Kind, Started};
use opal_vault::witness::{Recorder, Unrecorded};
use opal_vault::{Shown, Vault};

use crate::printed::Printed;
use crate::report::{Case, Check, Outcome, Span};

/// Output of steps that went well is kept up to this size, over the whole run.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// Verifications of a step that are kept: before it, after it, and at the end of the run, in each attempt.
const MAX_CHECKS: usize = 100;

/// Hears of a run, and keeps a bounded part of it. What it hears has been scrubbed.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    /// Each leaf step that has begun, and each that was skipped.
    steps: BTreeMap<Spot, Seen>,
    /// Blocks that failed, and not because of a step in them.
    blocks: BTreeMap<Spot, Seen>,
    /// The leaf steps that are at work, by number.
    running: BTreeMap<u64, Spot>,
    /// By path: the names of their targets, in the order of the plan.
    fleets: BTreeMap<Box<str>, Vec<Arc<str>>>,
    /// The paths of blocks whose steps run in parallel, fleets included.
    parallel: BTreeSet<Box<str>>,
    kept: usize,
}

/// A step on a target: on all targets of a fleet the paths are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    path: Box<str>,
    /// None on opal's machine.
    target: Option<Arc<str>>,
}

#[derive(Debug, Default)]
struct Seen {
    text: String,
    /// When each attempt began, and how it ended.
    attempts: Vec<(SystemTime, Option<Ended>)>,
    message: Option<String>,
    printed: Printed,
    checks: Vec<Check>,
    is_skipped: bool,
    is_caught: bool,
}

#[derive(Clone, Copy, Debug)]
struct Ended {
    end: End,
    code: i32,
    took: std::time::Duration,
}

/// A step of the plan, in its order.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub path: Box<str>,
    /// The step as the plan shows it, scrubbed.
    pub text: String,
    pub place: Option<(String, u32)>,
    /// Whether it is a block, which is a case only if it failed by itself.
    pub is_block: bool,
}

impl Collector {
    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A case for each leaf step of the plan. `failed` are the paths of the failures that nothing has
    /// caught; `is_cut` says that the run was stopped before its end.
    #[must_use]
    pub fn cases(
        &self,
        plan: Vec<Leaf>,
        began: SystemTime,
        failed: &[&str],
        is_cut: bool,
        vault: &Vault,
    ) -> Vec<Case> {
        let mut gathered = self.lock();
        let mut cases = Vec::new();
        let fleets: Vec<Box<str>> = gathered.fleets.keys().cloned().collect();
        // On targets the branches are the targets.
        gathered.parallel.retain(|path| !fleets.contains(path));
        let parallel = std::mem::take(&mut gathered.parallel);
        let mut plan = plan.as_slice();
        while let Some((leaf, rest)) = plan.split_first() {
            plan = rest;
            let is_failed = |leaf: &Leaf| failed.contains(&&*leaf.path);
            let mut add = |leaf: &Leaf, target: Option<Arc<str>>, seen| {
                let mut case = case(leaf, target, seen, began, is_failed(leaf), is_cut, vault);
                case.lane = branch(&leaf.path, &parallel);
                cases.push(case);
            };
            if leaf.is_block {
                for (spot, seen) in taken(&mut gathered.blocks, &leaf.path) {
                    if !gathered.has_failure_in(&spot) {
                        add(leaf, spot.target, Some(seen));
                    }
                }
            } else {
                let seen = taken(&mut gathered.steps, &leaf.path);
                if seen.is_empty() {
                    add(leaf, None, None);
                }
                seen.into_iter().for_each(|(spot, seen)| add(leaf, spot.target, Some(seen)));
            }
            if let Some(names) = gathered.fleets.remove(&leaf.path) {
                let inside = rest.iter().take_while(|inner| is_in(&inner.path, &leaf.path)).count();
                let (inside, after) = rest.split_at(inside);
                gathered.on_targets(&names, inside, &mut add);
                plan = after;
            }
        }
        cases
    }
}

/// What is known about a step, on every target.
fn taken(all: &mut BTreeMap<Spot, Seen>, path: &str) -> Vec<(Spot, Seen)> {
    let first = Spot { path: path.into(), target: None };
    let of_path = |spot: &Spot| &*spot.path == path;
    let found: Vec<Spot> =
        all.range(first..).map(|(spot, _)| spot).take_while(|it| of_path(it)).cloned().collect();
    found.into_iter().filter_map(|spot| all.remove_entry(&spot)).collect()
}

/// The innermost branch that a step is in: the path of a parallel block and the element after it. Elements
/// end with their index; names of decorators have dots of their own.
fn branch(path: &str, parallel: &BTreeSet<Box<str>>) -> Option<Box<str>> {
    let around = std::iter::successors(path.rsplit_once('.'), |(outer, _)| outer.rsplit_once('.'));
    let block = around.map(|(outer, _)| outer).find(|outer| parallel.contains(*outer))?;
    let inside = &path[block.len()..];
    let length = inside.find(']').map_or(path.len(), |end| block.len() + end + 1);
    Some(path[..length].into())
}

fn is_in(path: &str, around: &str) -> bool {
    path.strip_prefix(around).is_some_and(|rest| rest.starts_with('.'))
}

/// Adds a case for a step, on a target.
type Add<'a> = dyn FnMut(&Leaf, Option<Arc<str>>, Option<Seen>) + 'a;

impl Gathered {
    /// The steps of a fleet: by target, and then in the order of the plan. What ran on none of them is
    /// there once.
    fn on_targets(&mut self, names: &[Arc<str>], leaves: &[Leaf], add: &mut Add<'_>) {
        let places: BTreeMap<&str, usize> = names.iter().map(|name| &**name).zip(0..).gathered();
        let mut members: Vec<Vec<(&Leaf, Arc<str>, Seen)>> = names.iter().map(|_| vec![]).collect();
        let mut not_run = Vec::new();
        for leaf in leaves {
            let all = if leaf.is_block { &mut self.blocks } else { &mut self.steps };
            let found = taken(all, &leaf.path);
            if found.is_empty() && !leaf.is_block {
                not_run.push(leaf);
            }
            for (spot, seen) in found {
                let Some(target) = spot.target.clone() else { continue };
                let place = target.split('/').find_map(|part| places.get(part));
                let is_said = leaf.is_block && self.has_failure_in(&spot);
                if let Some(member) = place.and_then(|at| members.get_mut(*at)).filter(|_| !is_said)
                {
                    member.push((leaf, target, seen));
                }
            }
        }
        for (leaf, target, seen) in members.into_iter().flatten() {
            add(leaf, Some(target), Some(seen));
        }
        not_run.into_iter().for_each(|leaf| add(leaf, None, None));
    }

    /// Whether a step in it has failed: of a fleet on any of its targets.
    fn has_failure_in(&self, block: &Spot) -> bool {
        let is_there = |spot: &Spot| block.target.is_none() || spot.target == block.target;
        let mut all = self.steps.iter();
        all.any(|(it, seen)| is_in(&it.path, &block.path) && is_there(it) && seen.is_bad())
    }

    fn started(&mut self, step: &Started<'_>, target: Option<Arc<str>>, at: SystemTime) {
        let spot = Spot { path: step.path.into(), target };
        self.running.insert(step.number, spot.clone());
        let seen = self.steps.entry(spot).or_default();
        self.kept -= seen.printed.len();
        *seen = Seen {
            text: step.text.text().into_owned(),
            attempts: std::mem::take(&mut seen.attempts),
            checks: std::mem::take(&mut seen.checks),
            ..Seen::default()
        };
        seen.attempts.push((at, None));
    }

    fn finished(&mut self, step: &Finished<'_>, target: Option<Arc<str>>, at: SystemTime) {
        let message = step.message.as_ref().map(|message| message.text().into_owned());
        let ended = Ended { end: step.end, code: step.code, took: step.took };
        if step.is_block {
            if !step.end.is_good() && !step.passes_on {
                let began = at.checked_sub(step.took).unwrap_or(at);
                let attempts = vec![(began, Some(ended))];
                let spot = Spot { path: step.path.into(), target };
                self.blocks.insert(spot, Seen { message, attempts, ..Seen::default() });
            }
            return;
        }
        let Some(spot) = self.running.remove(&step.number) else { return };
        let Some(seen) = self.steps.get_mut(&spot) else { return };
        if let Some((_, end)) = seen.attempts.last_mut() {
            *end = Some(ended);
        }
        seen.message = message;
        if step.end.is_good() && self.kept > MAX_KEPT_BYTES {
            self.kept -= seen.printed.len();
            seen.printed.forget();
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        let target = || event.target.clone();
        let spot = |path: &str| Spot { path: path.into(), target: target() };
        match &event.kind {
            Kind::Started(step) if !step.is_block => self.started(step, target(), event.at),
            Kind::Finished(step) => self.finished(step, target(), event.at),
            Kind::Fleet { path, names } => {
                self.fleets.insert((*path).into(), names.clone());
            }
            Kind::Skipped { path, why, .. } => {
                let seen = self.steps.entry(spot(path)).or_default();
                seen.is_skipped = true;
                seen.message = why.as_ref().map(|why| why.text().into_owned());
            }
            Kind::Caught { path, .. } => {
                // What a fleet has failed with is caught on all of its targets.
                let is_there = |it: &Spot| target().is_none_or(|site| it.target == Some(site));
                let is_of = |it: &Spot| &*it.path == *path || is_in(&it.path, path);
                let all = self.steps.iter_mut().chain(&mut self.blocks);
                all.filter(|(it, _)| is_of(it) && is_there(it))
                    .for_each(|(_, seen)| seen.is_caught = true);
            }
            Kind::Branches { path, .. } => {
                self.parallel.insert((*path).into());
            }
            Kind::Verified { path, status, message, details } => {
                let seen = self.steps.entry(spot(path)).or_default();
                let check = Check {
                    status: *status,
                    message: message.text().into_owned(),
                    details: details.as_ref().map(|details| details.text().into_owned()),
                };
                // The verification at the end of a run says again what the one before it said.
                if seen.checks.len() < MAX_CHECKS && seen.checks.last() != Some(&check) {
                    seen.checks.push(check);
                }
            }
            Kind::Undone { path, message, .. } => {
                let seen = self.steps.entry(spot(path)).or_default();
                seen.message = Some(message.text().into_owned());
                if let Some((_, Some(ended))) = seen.attempts.last_mut() {
                    (ended.end, ended.code) = (End::Failed, 1);
                }
            }
            _ => {}
        }
    }
}

impl Seen {
    fn end(&self) -> Option<Ended> {
        self.attempts.last().and_then(|(_, ended)| *ended)
    }

    fn is_bad(&self) -> bool {
        self.end().is_some_and(|ended| !ended.end.is_good())
    }
}

fn case(
    leaf: &Leaf,
    target: Option<Arc<str>>,
    seen: Option<Seen>,
    began: SystemTime,
    is_failed: bool,
    is_cut: bool,
    vault: &Vault,
) -> Case {
    let seen = seen.unwrap_or_default();
    let (outcome, status, usual) = judged(&seen, is_failed, is_cut);
    let span = |(at, ended): &(SystemTime, Option<Ended>)| Span {
        start: at.duration_since(began).unwrap_or_default(),
        took: ended.map(|ended| ended.took).unwrap_or_default(),
        is_good: ended.is_some_and(|ended| ended.end.is_good()),
    };
    let vault = &vault.on(target.as_deref());
    let shown = |text: &str| vault.scrub(text).text().into_owned();
    let check = |it: &Check| Check {
        status: it.status,
        message: shown(&it.message),
        details: it.details.as_deref().map(shown),
    };
    let text = if seen.text.is_empty() { &leaf.text } else { &seen.text };
    Case {
        text: shown(text),
        target: target.map(|target| target.to_string()),
        place: leaf.place.clone(),
        outcome,
        status,
        message: seen.message.as_deref().map(shown).or(usual),
        spans: seen.attempts.iter().map(span).collect(),
        printed: seen.printed.finish(vault),
        checks: seen.checks.iter().map(check).collect(),
        lane: None,
        path: leaf.path.clone(),
    }
}

/// What it came to, in one word, and what is said where nothing else is.
fn judged(seen: &Seen, is_failed: bool, is_cut: bool) -> (Outcome, &'static str, Option<String>) {
    if seen.is_skipped {
        return (Outcome::Skipped, "skipped", None);
    }
    let Some((_, ended)) = seen.attempts.last() else {
        return (Outcome::Skipped, "not run", None);
    };
    let Some(Ended { end, code, .. }) = *ended else {
        return (Outcome::Error, "not finished", None);
    };
    let with_code = format!("exit code {code}");
    match end {
        End::Done | End::Satisfied => (Outcome::Passed, end.name(), None),
        End::Failed | End::TimedOut if seen.is_caught && !is_failed => {
            (Outcome::Passed, "caught", Some(format!("{with_code}, caught")))
        }
        End::Failed => (Outcome::Failed, "failed", Some(with_code)),
        End::TimedOut => (Outcome::Failed, "timed out", Some("timed out".to_owned())),
        // What another failure has stopped is not to blame.
        End::Stopped if is_cut || is_failed => (Outcome::Error, "stopped", Some("stopped".into())),
        End::Stopped => (Outcome::Skipped, "stopped", Some("stopped".into())),
    }
}

impl Recorder for Collector {
    fn event(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        self.lock().event(event);
        Ok(())
    }

    fn output(&self, number: u64, _: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded> {
        let gathered = &mut *self.lock();
        let seen = gathered.running.get(&number).and_then(|spot| gathered.steps.get_mut(spot));
        if let Some(seen) = seen {
            let before = seen.printed.len();
            seen.printed.push(bytes.bytes());
            gathered.kept = gathered.kept + seen.printed.len() - before;
        }
        Ok(())
    }
}
