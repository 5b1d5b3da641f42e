//! The result table of a fleet, as `opal run` prints it.

use std::time::Duration;

use opal_core::view::visible;
use serde_json::Value;

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

fn time(seconds: f64) -> String {
    opal_core::duration::rounded(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
