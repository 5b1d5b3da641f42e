//! A look as one JSON document: `docs/schema/verify-1.json`.

use std::time::{Duration, SystemTime};

use opal_core::resource::Status;
use opal_core::view::time_text;
use opal_exec::verify::Report;
use opal_vault::verification::Verification;
use serde_json::{Value, json};

use opal_ops::preview::Effect;

/// With what an apply would do about each, where that was asked.
pub(crate) fn of(file: &str, report: &Report, effects: Option<&[Effect]>) -> Value {
    let all = &report.verifications;
    let count = |status| all.iter().filter(|found| found.status == status).count();
    let mut summary = json!({
        "total_steps": all.len(),
        "duration_seconds": seconds(report.took),
    });
    for status in Status::ALL {
        summary[status.name()] = count(status).into();
    }
    let mut results: Vec<Value> = all.iter().map(result).collect();
    for (result, effect) in results.iter_mut().zip(effects.unwrap_or_default()) {
        result["action"] = effect.name().into();
    }
    json!({ "config_file": file, "summary": summary, "results": results })
}

fn result(found: &Verification) -> Value {
    let mut result = json!({
        "step_id": found.id,
        "key": found.key.text(),
        "status": found.status.name(),
        "message": found.message.text(),
        "duration_seconds": seconds(found.took),
        "timestamp": timestamp(found.at),
    });
    if let Some(name) = &found.name {
        result["name"] = name.text().into();
    }
    if let Some(target) = &found.target {
        result["target"] = (&**target).into();
    }
    if let Some(details) = &found.details {
        result["details"] = details.text().into();
    }
    if let Some(blocked) = &found.blocked {
        result["error"] = blocked.error.text().into();
    }
    if let Some(refusal) = &found.refusal {
        result["refusal"] = refusal.error.text().into();
    }
    result
}

/// To the microsecond.
fn seconds(took: Duration) -> f64 {
    took.as_micros() as f64 / 1_000_000.0
}

/// RFC 3339 in UTC, to the microsecond.
fn timestamp(at: SystemTime) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let whole = i64::try_from(since.as_secs()).ok().and_then(time_text).unwrap_or_default();
    format!("{}.{:06}Z", whole.trim_end_matches('Z'), since.subsec_micros())
}
