//! A run as one JSON document, for `--json`.

use std::time::Duration;

use serde_json::{Value, json};

use super::Report;

pub(crate) fn summary_json(run_id: Option<&str>, target: &str, report: &Report<'_>) -> Value {
    let steps = report.steps;
    let failed = report.failed.as_ref().map(|failed| {
        json!({
            "path": failed.path,
            "decorator": failed.decorator,
            "exit_code": failed.code,
            "text": failed.text,
            "message": failed.message,
        })
    });
    json!({
        "version": 1,
        "run_id": run_id,
        "status": report.status.name(),
        "exit_code": report.code,
        "target": target,
        "steps": {
            "done": steps.done,
            "failed": steps.failed,
            "stopped": steps.stopped,
            "skipped": steps.skipped,
        },
        "failed": failed,
        "duration_ms": millis(report.took),
        "record": report.record.map(|path| path.display().to_string()),
    })
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
