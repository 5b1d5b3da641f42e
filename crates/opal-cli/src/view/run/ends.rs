//! How each step that describes a state has ended, for the JSON summary of a configuration.

use std::collections::BTreeMap;
use std::time::Duration;

use opal_core::Registry;
use opal_core::plan::{Plan, Step};
use opal_core::record::{End, Finished, Shown};
use opal_core::resource;
use serde_json::{Value, json};

/// By the paths of the steps; of a step with several attempts the last.
#[derive(Debug, Default)]
pub(super) struct Ends(BTreeMap<Box<str>, Ended>);

#[derive(Debug)]
struct Ended {
    status: &'static str,
    code: Option<i32>,
    took: Option<Duration>,
    message: Option<String>,
}

impl Ends {
    pub(super) fn finished(&mut self, step: &Finished<'_>) {
        let message = step.message.as_ref().map(|message| message.text().into_owned());
        let ended = Ended {
            status: step.end.name(),
            code: Some(step.code),
            took: Some(step.took),
            message: message
                .or_else(|| (step.end == End::TimedOut).then(|| "timed out".to_owned())),
        };
        self.0.insert(step.path.into(), ended);
    }

    /// At the end of the run it was no longer as described.
    pub(super) fn undone(&mut self, path: &str, message: &Shown<'_>) {
        if let Some(ended) = self.0.get_mut(path) {
            ended.status = End::Failed.name();
            ended.code = Some(1);
            ended.message = Some(message.text().into_owned());
        }
    }

    pub(super) fn skipped(&mut self, path: &str, why: Option<&Shown<'_>>) {
        let message = why.map(|why| why.text().into_owned());
        self.0.insert(path.into(), Ended { message, ..Ended::SKIPPED });
    }

    /// One entry for each step that describes a state, in the order of the plan. What the run did not
    /// get to was skipped.
    pub(super) fn json(&self, plan: &Plan, registry: &Registry) -> Value {
        let mut entries = Vec::new();
        self.add(plan, &plan.steps, registry, &mut entries);
        Value::Array(entries)
    }

    fn add(&self, plan: &Plan, steps: &[Step], registry: &Registry, entries: &mut Vec<Value>) {
        for step in steps {
            if resource::described(step, registry).is_some() {
                let ended = self.0.get(&step.path).unwrap_or(&Ended::SKIPPED);
                let name = resource::name(plan, step);
                entries.push(json!({
                    "id": (name != &*step.path).then_some(name),
                    "path": step.path,
                    "decorator": step.decorator,
                    "status": ended.status,
                    "code": ended.code,
                    "duration_ms": ended.took.map(|took| took.as_micros() as f64 / 1000.0),
                    "message": ended.message,
                }));
            }
            self.add(plan, &step.block, registry, entries);
        }
    }
}

impl Ended {
    const SKIPPED: Self = Self { status: "skipped", code: None, took: None, message: None };
}
