//! A run as one JSON document, for `--json`: in the words of its record.

use opal_core::gather::Gather as _;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Failed, Report};
use crate::view::targets;

/// `steps` are those of a configuration.
pub(crate) fn summary_json(
    id: Option<&str>,
    target: &str,
    report: &Report<'_>,
    steps: Option<Value>,
) -> Value {
    let counts = report.steps;
    let told = |failed: &Failed<'_>| {
        json!({
            "id": failed.id,
            "path": failed.path,
            "decorator": failed.decorator,
            "code": failed.code,
            "text": failed.text,
            "message": failed.message,
            "file": failed.place.as_ref().map(|(file, _)| file),
            "line": failed.place.as_ref().map(|(_, line)| line),
        })
    };
    let mut summary = json!({
        "version": 1,
        "id": id,
        "status": report.status.name(),
        "code": report.code,
        "target": target,
        "counts": counts.named().into_iter().gathered::<BTreeMap<_, _>>(),
        "failed": report.failed.as_ref().map(told),
        "also_failed": report.beside.iter().map(told).collect::<Vec<_>>(),
        "took_ms": report.took.as_micros() as f64 / 1000.0,
        "record": report.record.map(|path| path.display().to_string()),
    });
    if !report.hidden.is_empty() {
        summary["hidden"] = json!(report.hidden);
    }
    if !report.fleets.is_empty() {
        summary["fleets"] = targets::json(report.fleets);
    }
    if let Some(steps) = steps {
        summary["steps"] = steps;
    }
    summary
}
