//! How each step that describes a state has ended, for the JSON summary of a configuration.

use std::collections::BTreeMap;
use std::time::Duration;

use opal_core::Registry;
use opal_core::plan::{Plan, Step};
use opal_core::resource::{self, Status};
use opal_vault::Shown;
use opal_vault::Vault;
use opal_vault::event::{End, Finished};
use opal_vault::verification::ShownDetails;
use serde_json::{Value, json};

use opal_ops::preview::Effect;

use super::words;

/// By the paths of the steps; of a step with several attempts the last.
#[derive(Debug, Default)]
pub(super) struct Ends {
    ended: BTreeMap<Box<str>, Ended>,
    /// What verify saw before the step acted for the first time.
    seen: BTreeMap<Box<str>, Seen>,
}

#[derive(Debug)]
struct Seen {
    status: Status,
    message: String,
    details: Option<String>,
}

#[derive(Debug)]
struct Ended {
    status: &'static str,
    code: Option<i32>,
    took: Option<Duration>,
    message: Option<String>,
}

impl Ends {
    pub(super) fn verified(
        &mut self,
        path: &str,
        status: Status,
        message: &Shown<'_>,
        details: Option<&ShownDetails>,
    ) {
        self.seen.entry(path.into()).or_insert_with(|| Seen {
            status,
            message: message.text().into_owned(),
            details: details.map(|details| details.text().into_owned()),
        });
    }

    pub(super) fn finished(&mut self, step: &Finished<'_>) {
        let message = step.message.as_ref().map(|message| message.text().into_owned());
        let ended = Ended {
            status: step.end.name(),
            code: Some(step.code),
            took: Some(step.took),
            message: message
                .or_else(|| (step.end == End::TimedOut).then(|| "timed out".to_owned())),
        };
        self.ended.insert(step.path.into(), ended);
    }

    /// At the end of the run it was no longer as described.
    pub(super) fn undone(&mut self, path: &str, message: &Shown<'_>) {
        if let Some(ended) = self.ended.get_mut(path) {
            ended.status = End::Failed.name();
            ended.code = Some(1);
            ended.message = Some(message.text().into_owned());
        }
    }

    pub(super) fn skipped(&mut self, path: &str, why: Option<&Shown<'_>>) {
        let message = why.map(|why| why.text().into_owned());
        self.ended.insert(path.into(), Ended { message, ..Ended::SKIPPED });
    }

    /// One entry for each step that describes a state, in the order of the plan.
    pub(super) fn json(&self, plan: &Plan, registry: &Registry, vault: &Vault) -> Value {
        let mut entries = Vec::new();
        let mut steps: Vec<&Step> = plan.steps.iter().rev().collect();
        while let Some(step) = steps.pop() {
            if resource::described(step, registry).is_some() {
                let title = resource::title(plan, step).map(|title| vault.scrub(title));
                let mut entry = self.entry(resource::name(plan, step), step);
                if let Some(title) = title {
                    entry["name"] = title.text().into();
                }
                entries.push(entry);
            }
            steps.extend(step.block.iter().rev());
        }
        Value::Array(entries)
    }

    fn entry(&self, id: &str, step: &Step) -> Value {
        let ended = self.ended.get(&step.path).unwrap_or(&Ended::NOT_STARTED);
        let seen = self.seen.get(&step.path);
        let said = ended.message.as_ref().or(seen.map(|seen| &seen.message));
        let mut entry = json!({
            "step_id": id,
            "path": step.path,
            "decorator": step.node.name(),
            "verified": seen.map(|seen| seen.status.name()),
            "action": action(seen.map(|seen| seen.status), ended.code.is_some()).name(),
            "status": ended.status,
            "code": ended.code,
            "duration_ms": ended.took.map(|took| took.as_micros() as f64 / 1000.0),
            "message": said,
        });
        if let Some(details) = seen.and_then(|seen| seen.details.as_ref()) {
            entry["details"] = details.as_str().into();
        }
        if ended.code.is_some_and(|code| code != 0) {
            let ending = || ended.code.map_or_else(|| "failed".to_owned(), words::ending);
            entry["error"] = ended.message.clone().unwrap_or_else(ending).into();
        }
        entry
    }
}

/// In the words of a dry run.
const fn action(seen: Option<Status>, has_begun: bool) -> Effect {
    match seen {
        Some(Status::Satisfied) => Effect::Skip,
        Some(Status::Missing) => Effect::Create,
        Some(Status::Drifted) => Effect::Correct,
        Some(Status::Unknown) => Effect::Run,
        Some(Status::Blocked) => Effect::Blocked,
        None if has_begun => Effect::Blocked,
        None => Effect::Skip,
    }
}

impl Ended {
    /// Passed over, and counted as such.
    const SKIPPED: Self = Self { status: "skipped", code: None, took: None, message: None };

    /// The run ended before it got there; it is counted nowhere.
    const NOT_STARTED: Self = Self { status: "not_started", ..Self::SKIPPED };
}
