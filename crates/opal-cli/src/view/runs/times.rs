//! Times and durations in tables of runs.

use super::visible;

/// `2026-11-15 12:00:01`, from RFC 3339.
pub(super) fn time(text: Option<&str>) -> String {
    text.and_then(|text| text.get(..19)).map_or("-".into(), |text| visible(&text.replace('T', " ")))
}

/// `1.2ms`, `3.4s`, `2m05s`.
pub(super) fn took(ms: Option<f64>) -> String {
    match ms {
        None => "-".into(),
        Some(ms) if ms < 1000.0 => format!("{ms:.1}ms"),
        Some(ms) if ms < 60_000.0 => format!("{:.1}s", ms / 1000.0),
        Some(ms) if ms < 3_600_000.0 => {
            format!("{}m{:02}s", (ms / 60_000.0) as u64, (ms / 1000.0) as u64 % 60)
        }
        Some(ms) => format!("{}h{:02}m", (ms / 3_600_000.0) as u64, (ms / 60_000.0) as u64 % 60),
    }
}
