//! What `opal module init` shows.

use std::fmt::Write as _;

use opal_modules::keep::{Check, Initialised, Readiness, RuntimeRoot, Target, TargetStatus};
use serde_json::{Value, json};

use super::table::Table;
use super::{error_json, print, print_json};
use crate::failure::{Exit, Failure};

pub(crate) fn status(all: &[TargetStatus], json: bool) -> Result<Exit, Failure> {
    if json {
        let targets = all.iter().map(|it| {
            json!({
                "target": it.target.name,
                "status": it.readiness.name(),
                "run_id": it.run_id,
                "missing": it.failed.iter().map(check).collect::<Vec<_>>(),
            })
        });
        return print_json(&json!({"version": 1, "targets": targets.collect::<Vec<_>>()}));
    }
    let mut table = Table::new(["TARGET", "STATUS", "WHAT IT IS"]);
    for it in all {
        let mut what = it.target.summary.to_owned();
        if it.readiness == Readiness::Stale {
            what = it.failed.first().map_or(what, |check| check.message.clone());
        }
        table.row([it.target.name.to_owned(), it.readiness.name().to_owned(), what]);
    }
    print(&table.finish(str::to_owned))
}

pub(crate) fn initialised(
    target: &Target,
    root: &RuntimeRoot,
    done: &Initialised,
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let faults = || done.checks.iter().filter(|check| !check.is_passed);
        let help: Vec<String> = faults().filter_map(|check| check.help.clone()).collect();
        let message = faults().map(|check| check.message.as_str()).collect::<Vec<_>>().join("; ");
        return print_json(&json!({
            "version": 1,
            "target": target.name,
            "status": done.status(),
            "error": (!done.is_ready).then(|| error_json(&message, &help)),
            "checks": done.checks.iter().map(check).collect::<Vec<_>>(),
            "config": root.config(target).to_string_lossy(),
            "evidence_dir": done.evidence.to_string_lossy(),
        }));
    }
    let mut out = String::new();
    for check in &done.checks {
        let mark = if check.is_passed { "ok     " } else { "missing" };
        let _ = writeln!(out, "{mark}  {}  {}", check.kind, check.message);
        if let Some(help) = check.help.as_ref().filter(|_| !check.is_passed) {
            let _ = writeln!(out, "         {help}");
        }
    }
    if let Some(template) = &done.template {
        // Where nothing but what is usual is asked for, there is nothing to fill in.
        let next = if done.needs_config() { ": fill it in, and run this again" } else { "" };
        let _ = writeln!(out, "\n`{}` was created{next}", template.display());
    }
    let ready = if done.is_ready { "is ready" } else { "is not ready" };
    let _ = writeln!(out, "{} {ready}; evidence: {}", target.name, done.evidence.display());
    print(&out)
}

fn check(check: &Check) -> Value {
    let Check { kind, is_passed, message, help } = check;
    json!({"name": kind.to_string(), "ok": is_passed, "message": message, "help": help})
}
