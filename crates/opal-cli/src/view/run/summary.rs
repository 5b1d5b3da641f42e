//! A run as one JSON document, for `--json`: in the words of its record.

use serde_json::{Value, json};

use super::Report;

pub(crate) fn summary_json(id: Option<&str>, target: &str, report: &Report<'_>) -> Value {
    let steps = report.steps;
    let failed = report.failed.as_ref().map(|failed| {
        json!({
            "path": failed.path,
            "decorator": failed.decorator,
            "code": failed.code,
            "text": failed.text,
            "message": failed.message,
        })
    });
    json!({
        "version": 1,
        "id": id,
        "status": report.status.name(),
        "code": report.code,
        "target": target,
        "counts": {
            "done": steps.done,
            "failed": steps.failed,
            "stopped": steps.stopped,
            "skipped": steps.skipped,
        },
        "failed": failed,
        "took_ms": report.took.as_micros() as f64 / 1000.0,
        "record": report.record.map(|path| path.display().to_string()),
    })
}
