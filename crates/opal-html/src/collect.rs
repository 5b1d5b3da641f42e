//! Gathers what a report is made of, while a run goes on.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use opal_core::stream::Stream;
use opal_vault::event::{End, Event, Finished, Kind, Started};
use opal_vault::witness::{Recorder, Unrecorded};
use opal_vault::{Shown, Vault};

use crate::printed::Printed;
use crate::report::{Case, Outcome, Span};

/// Output of steps that went well is kept up to this size, over the whole run.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// Hears of a run, and keeps a bounded part of it. What it hears has been scrubbed.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    /// By path: each leaf step that has begun, and each that was skipped.
    steps: BTreeMap<Box<str>, Seen>,
    /// By path: blocks that failed, and not because of a step in them.
    blocks: BTreeMap<Box<str>, Seen>,
    /// The leaf steps that are at work, by number.
    running: BTreeMap<u64, Box<str>>,
    kept: usize,
}

#[derive(Debug, Default)]
struct Seen {
    text: String,
    /// When each attempt began, and how it ended.
    attempts: Vec<(SystemTime, Option<Ended>)>,
    message: Option<String>,
    printed: Printed,
    details: Option<String>,
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
        for leaf in plan {
            let seen = match leaf.is_block {
                true => match gathered.blocks.remove(&leaf.path) {
                    Some(seen) if !gathered.has_failure_in(&leaf.path) => Some(seen),
                    _ => continue,
                },
                false => gathered.steps.remove(&leaf.path),
            };
            let is_failed = failed.contains(&&*leaf.path);
            cases.push(case(leaf, seen, began, is_failed, is_cut, vault));
        }
        cases
    }
}

impl Gathered {
    fn has_failure_in(&self, path: &str) -> bool {
        let inside =
            |other: &str| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        self.steps.iter().any(|(other, seen)| inside(other) && seen.is_bad())
    }

    fn started(&mut self, step: &Started<'_>, at: SystemTime) {
        self.running.insert(step.number, step.path.into());
        let seen = self.steps.entry(step.path.into()).or_default();
        self.kept -= seen.printed.len();
        *seen = Seen {
            text: step.text.text().into_owned(),
            attempts: std::mem::take(&mut seen.attempts),
            details: seen.details.take(),
            ..Seen::default()
        };
        seen.attempts.push((at, None));
    }

    fn finished(&mut self, step: &Finished<'_>, at: SystemTime) {
        let message = step.message.as_ref().map(|message| message.text().into_owned());
        let ended = Ended { end: step.end, code: step.code, took: step.took };
        if step.is_block {
            if !step.end.is_good() && !step.passes_on {
                let began = at.checked_sub(step.took).unwrap_or(at);
                let attempts = vec![(began, Some(ended))];
                self.blocks.insert(step.path.into(), Seen { message, attempts, ..Seen::default() });
            }
            return;
        }
        let Some(path) = self.running.remove(&step.number) else { return };
        let Some(seen) = self.steps.get_mut(&path) else { return };
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
        match &event.kind {
            Kind::Started(step) if !step.is_block => self.started(step, event.at),
            Kind::Finished(step) => self.finished(step, event.at),
            Kind::Skipped { path, why, .. } => {
                let seen = self.steps.entry((*path).into()).or_default();
                seen.is_skipped = true;
                seen.message = why.as_ref().map(|why| why.text().into_owned());
            }
            Kind::Caught { path, .. } => {
                let is_in = |other: &str| {
                    other.strip_prefix(path).is_some_and(|it| it.is_empty() || it.starts_with('.'))
                };
                let all = self.steps.iter_mut().chain(&mut self.blocks);
                all.filter(|(path, _)| is_in(path)).for_each(|(_, seen)| seen.is_caught = true);
            }
            Kind::Verified { path, details: Some(details), .. } => {
                let seen = self.steps.entry((*path).into()).or_default();
                seen.details.get_or_insert_with(|| details.text().into_owned());
            }
            Kind::Undone { path, message, .. } => {
                let seen = self.steps.entry((*path).into()).or_default();
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
    leaf: Leaf,
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
    let shown = |text: &str| vault.scrub(text).text().into_owned();
    let text = if seen.text.is_empty() { &leaf.text } else { &seen.text };
    Case {
        text: shown(text),
        place: leaf.place,
        outcome,
        status,
        message: seen.message.as_deref().map(shown).or(usual),
        spans: seen.attempts.iter().map(span).collect(),
        printed: seen.printed.finish(vault),
        details: seen.details.as_deref().map(shown),
        path: leaf.path,
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
        let seen = gathered.running.get(&number).and_then(|path| gathered.steps.get_mut(path));
        if let Some(seen) = seen {
            let before = seen.printed.len();
            seen.printed.push(bytes.bytes());
            gathered.kept = gathered.kept + seen.printed.len() - before;
        }
        Ok(())
    }
}
