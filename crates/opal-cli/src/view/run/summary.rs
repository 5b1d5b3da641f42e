//! A run as one JSON document, for `--json`: in the words of its record.

use serde_json::{Value, json};

use super::{Failed, Report};

pub(crate) fn summary_json(id: Option<&str>, target: &str, report: &Report<'_>) -> Value {
    let steps = report.steps;
    let told = |failed: &Failed<'_>| {
        json!({
            "path": failed.path,
            "decorator": failed.decorator,
            "code": failed.code,
            "text": failed.text,
            "message": failed.message,
        })
    };
    json!({
        "version": 1,
        "id": id,
        "status": report.status.name(),
        "code": report.code,
        "target": target,
        "counts": {
            "done": steps.done,
            "satisfied": steps.satisfied,
            "failed": steps.failed,
            "stopped": steps.stopped,
            "skipped": steps.skipped,
        },
        "failed": report.failed.as_ref().map(told),
        "also_failed": report.beside.iter().map(told).collect::<Vec<_>>(),
        "took_ms": report.took.as_micros() as f64 / 1000.0,
        "record": report.record.map(|path| path.display().to_string()),
    })
}
