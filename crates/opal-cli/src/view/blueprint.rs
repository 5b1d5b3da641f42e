//! What `opal blueprint` shows.

use std::fmt::Write as _;

use opal_core::message::counted;
use opal_modules::{Blueprint, Step};
use opal_ops::blueprint::{Done, Fate};
use serde_json::{Value, json};

use super::diagnostics::visible;
use super::table::Table;
use super::{error_json, print, print_json, say};
use crate::failure::{Exit, Failure};

pub(crate) fn valid(
    blueprint: &Blueprint,
    warnings: &[String],
    json: bool,
) -> Result<Exit, Failure> {
    let (name, steps) = (blueprint.blueprint_ref.as_str(), blueprint.steps.len());
    if json {
        return print_json(&json!({
            "version": 1,
            "blueprint_ref": name,
            "valid": true,
            "warnings": warnings,
            "steps": steps,
        }));
    }
    print(&format!("{name} is valid: {} and all their modules\n", counted(steps, "step")))
}

fn fate_json(fate: &Fate) -> Value {
    match fate {
        Fate::Run { tools } => json!({"action": "run", "tools": tools}),
        Fate::Skip => json!({"action": "skip", "reason": "state-ok"}),
        Fate::Open(why) => json!({"action": "open", "reason": why}),
    }
}

pub(crate) fn plan(
    blueprint: &Blueprint,
    fates: &[(&Step, Fate)],
    json: bool,
) -> Result<Exit, Failure> {
    let name = blueprint.blueprint_ref.as_str();
    if json {
        let steps = fates.iter().map(|(step, fate)| {
            let mut value = fate_json(fate);
            value["id"] = step.id.as_str().into();
            value["module_ref"] = step.module_ref.as_str().into();
            value["command"] = step.action.name().into();
            value["requires"] = step.requires.clone().into();
            value
        });
        let steps: Vec<Value> = steps.collect();
        return print_json(&json!({"version": 1, "blueprint_ref": name, "steps": steps}));
    }
    let mut table = Table::new(["STEP", "MODULE", "WHAT"]);
    for (step, fate) in fates {
        let what = match fate {
            Fate::Run { tools } => format!("{}: {}", step.action, visible(&tools.join("; "))),
            Fate::Skip => "skipped: already applied".to_owned(),
            Fate::Open(why) => format!("{}, but {}", step.action, visible(why)),
        };
        table.row([step.id.clone(), step.module_ref.to_string(), what]);
    }
    let mut out = format!("{name}\n");
    out.push_str(&table.finish(str::to_owned));
    print(&out)
}

/// What is said of inputs of a step that seem to be slips of others.
pub(crate) fn slips(step: &Step, slips: &[(&str, &str)]) -> Vec<String> {
    let told = |(given, near): &(&str, &str)| {
        format!("the step `{}` has an input `{given}`; did you mean `{near}`?", step.id)
    };
    slips.iter().map(told).collect()
}

/// What happens to a step now.
pub(crate) fn step(step: &Step, what: &str) {
    say(&format!("step={} module={} status={what}\n", step.id, step.module_ref));
}

/// How a blueprint ended.
pub(crate) struct Ended<'e> {
    pub(crate) steps: &'e [(&'e Step, Done)],
    /// A step that counts has found a difference, which is not a failure.
    pub(crate) differs: bool,
    /// Somebody has stopped it.
    pub(crate) is_cancelled: bool,
    pub(crate) error: Option<Error>,
}

/// What has failed, and the way forward.
pub(crate) struct Error {
    pub(crate) message: String,
    pub(crate) help: Vec<String>,
}

impl Ended<'_> {
    /// In one word, and in words for people.
    pub(crate) fn status(&self) -> (&'static str, &'static str) {
        match (&self.error, self.differs) {
            (Some(_), _) if self.is_cancelled => ("cancelled", "cancelled"),
            (Some(_), _) => ("error", "failed"),
            (None, true) => ("drifted", "not in the desired state"),
            (None, false) => ("ok", "ok"),
        }
    }
}

/// How it all ended, as one document; `runs` are those of the single ones.
pub(crate) fn document(blueprint: &Blueprint, ended: &Ended<'_>, runs: Vec<Value>) -> Value {
    let steps = ended.steps.iter().map(|(step, done)| {
        let reason = (*done == Done::Skipped).then_some("state-ok");
        let status = if reason.is_some() { "skipped" } else { done.name() };
        let module = step.module_ref.as_str();
        json!({"id": step.id, "module_ref": module, "status": status, "reason": reason})
    });
    let steps: Vec<Value> = steps.collect();
    json!({
        "version": 1,
        "blueprint_ref": blueprint.blueprint_ref.as_str(),
        "status": ended.status().0,
        "steps": steps,
        "runs": runs,
        "error": ended.error.as_ref().map(|error| error_json(&error.message, &error.help)),
    })
}

/// How it all ended. `runs` are the documents of the single ones, where JSON is wanted.
pub(crate) fn ended(
    blueprint: &Blueprint,
    ended: &Ended<'_>,
    runs: Option<Vec<Value>>,
) -> Result<Exit, Failure> {
    if let Some(runs) = runs {
        return print_json(&document(blueprint, ended, runs));
    }
    let mut out = format!("\n{}: {}\n", blueprint.blueprint_ref.as_str(), ended.status().1);
    for (step, done) in ended.steps {
        let _ = writeln!(out, "  {}  {}", step.id, done.name());
    }
    say(&out);
    Ok(Exit::Done)
}
