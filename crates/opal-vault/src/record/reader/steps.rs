//! What had started and what had finished.

use std::collections::BTreeMap;
use std::path::Path;

use crate::event::End;
use serde_json::Value;

use super::{Events, Unreadable};
use opal_core::gather::Gather as _;

/// One start of a step, or a step that was skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// None where it was skipped.
    pub number: Option<u64>,
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
    let steps = steps(folder)?;
    let last: BTreeMap<&str, &Step> = steps.iter().map(|step| (&*step.path, step)).gathered();
    let is_open = |path: &str| last.get(path).is_none_or(|step| step.was_cut_short());
    let found = steps.iter().find(|step| !step.is_block && around(&step.path).all(is_open));
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

/// The steps of a run in the order in which they started.
pub fn steps(folder: &Path) -> Result<Vec<Step>, Unreadable> {
    let mut steps: Vec<Step> = Vec::new();
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    // Looks name the path alone: of those that started, the last is meant.
    let mut latest: BTreeMap<String, usize> = BTreeMap::new();
    for event in Events::open(folder)? {
        let event = event?;
        let number = event["number"].as_u64();
        match event["kind"].as_str() {
            Some("step_started") => {
                places.extend(number.map(|number| (number, steps.len())));
                latest.insert(text(&event, "path"), steps.len());
                steps.push(begun(&event, None));
            }
            Some("step_skipped") => {
                let end = "skipped".to_owned();
                let message = event["why"].as_str().map(str::to_owned);
                let finish = Finish { end, code: 0, took_ms: 0.0, is_own_limit: false, message };
                steps.push(begun(&event, Some(finish)));
            }
            Some("step_verified") => {
                let place = latest.get(event["path"].as_str().unwrap_or_default());
                if let Some(step) = place.and_then(|&place| steps.get_mut(place)) {
                    step.verifications.push(StepVerification {
                        status: text(&event, "status"),
                        message: text(&event, "message"),
                        details: event["details"].as_str().map(str::to_owned),
                    });
                }
            }
            Some("step_undone") => {
                let place = latest.get(event["path"].as_str().unwrap_or_default());
                let step = place.and_then(|&place| steps.get_mut(place));
                if let Some(finish) = step.and_then(|step| step.finish.as_mut()) {
                    finish.end = End::Failed.name().to_owned();
                    finish.code = 1;
                    finish.message = event["message"].as_str().map(str::to_owned);
                }
            }
            Some("step_finished") => {
                let place = number.and_then(|number| places.get(&number));
                if let Some(step) = place.and_then(|&place| steps.get_mut(place)) {
                    step.finish = Some(Finish {
                        end: text(&event, "end"),
                        code: event["code"].as_i64().unwrap_or_default(),
                        took_ms: event["took_ms"].as_f64().unwrap_or_default(),
                        is_own_limit: event["own_limit"].as_bool().unwrap_or_default(),
                        message: event["message"].as_str().map(str::to_owned),
                    });
                }
            }
            _ => {}
        }
    }
    Ok(steps)
}

fn begun(event: &Value, finish: Option<Finish>) -> Step {
    Step {
        number: event["number"].as_u64(),
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
