//! The result table of a fleet, as `opal run` prints it.

use std::time::Duration;

use opal_core::view::visible;
use serde_json::Value;

use crate::runner::is_failure;

/// Characters of a step in the table.
const MAX_STEP: usize = 60;

const HEAD: [&str; 5] = ["TARGET", "STATUS", "STEP", "CODE", "TIME"];

/// Without the last line feed.
pub(crate) fn table(rows: &[Value]) -> String {
    let mut lines = vec![HEAD.map(str::to_owned)];
    for row in rows {
        let text = |name: &str| row[name].as_str();
        let what = text("step").or(text("message"));
        lines.push([
            visible::line(text("target").unwrap_or_default()),
            visible::line(text("status").unwrap_or_default()),
            what.map(|it| visible::brief(it, MAX_STEP)).unwrap_or_default(),
            row["code"].as_i64().map(|it| it.to_string()).unwrap_or_default(),
            row["took_ms"].as_f64().map(|ms| time(ms / 1000.0)).unwrap_or_default(),
        ]);
    }
    let width =
        |column: usize| lines.iter().map(|it| it[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let line = |cells: &[String; 5]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Reasons that are written out.
const MAX_REASONS: usize = 10;

/// Names that are written out.
const MAX_NAMES: usize = 3;

/// What the table has no room for, as `opal run` prints it: why targets failed, each reason once, and what to do
/// about it. None where the table says it all. Without the last line feed.
pub(crate) fn reasons(rows: &[Value]) -> Option<String> {
    let mut reasons: Vec<(String, Vec<&Value>)> = Vec::new();
    for row in rows.iter().filter(|row| is_failure(row["status"].as_str())) {
        let Some(text) = reason(row) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(row),
            None => reasons.push((text, vec![row])),
        }
    }
    let more = reasons.len().saturating_sub(MAX_REASONS);
    let mut lines = Vec::new();
    for (text, rows) in reasons.iter().take(MAX_REASONS) {
        lines.push(format!("{}: {text}", names(rows)));
        let help = rows.first().and_then(|row| row["help"].as_array()).into_iter().flatten();
        let help = help.filter_map(Value::as_str);
        lines.extend(help.map(|help| format!("  help: {}", indented(help))));
    }
    if more > 0 {
        lines.push(format!("… and {more} more: `targets.json` has them"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Why a target failed, without its name; none where that is in the table.
fn reason(row: &Value) -> Option<String> {
    let whole = row["message"].as_str()?;
    let has_help = row["help"].as_array().is_some_and(|help| !help.is_empty());
    let is_cut =
        row["step"].is_string() || whole.chars().count() > MAX_STEP || whole.contains('\n');
    if !is_cut && !has_help {
        return None;
    }
    let name = format!("`{}`: ", row["target"].as_str().unwrap_or_default());
    Some(indented(whole.strip_prefix(&name).unwrap_or(whole)))
}

/// Deeper than what begins a line.
fn indented(text: &str) -> String {
    visible::lines(text.trim_end()).replace('\n', "\n    ")
}

fn names(rows: &[&Value]) -> String {
    let name = |row: &&Value| visible::line(row["target"].as_str().unwrap_or_default());
    let names: Vec<String> = rows.iter().map(name).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= MAX_NAMES => {
            format!("{} and {last}", first.join(", "))
        }
        all => format!("{} targets", all.len()),
    }
}

fn time(seconds: f64) -> String {
    opal_core::duration::rounded(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reasons_without_room_in_the_table_are_said_once() {
        let lost = |name: &str| {
            json!({
                "target": name, "status": "lost", "step": "systemctl restart web", "code": 69,
                "message": format!("`{name}`: the step has begun\nnobody knows how it ended"),
                "help": ["check the target"],
            })
        };
        let mut rows: Vec<Value> = ["a", "b", "c", "d"].map(lost).into();
        rows.push(json!({"target": "e", "status": "unreachable", "message": "no route"}));
        rows.push(json!({"target": "f", "status": "skipped", "message": "x".repeat(100)}));
        rows.push(json!({"target": "g", "status": "failed", "step": "false", "code": 1}));
        let said = "4 targets: the step has begun\n    nobody knows how it ended\n  \
                    help: check the target";
        assert_eq!(reasons(&rows).as_deref(), Some(said));
        assert!(reasons(&rows[1..4]).unwrap().starts_with("b, c and d: the step"));
        assert_eq!(reasons(&rows[4..]), None);
    }
}
