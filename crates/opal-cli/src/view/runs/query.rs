//! What `opal runs stats` and `opal runs sql` show.

use std::fmt::Write as _;

use opal_core::view::visible;
use serde_json::Value;

use super::{Paint, took};
use crate::failure::{Exit, Failure};
use crate::view::ink::Ink;
use crate::view::print;
use crate::view::table::Table;

/// Characters of a cell that a table shows.
const MAX_CELL_CHARS: usize = 200;

/// Text for one line.
pub(crate) fn text(text: &str) -> String {
    visible::brief(text, MAX_CELL_CHARS)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(it) => text(it),
        other => other.to_string(),
    }
}

/// `2 of 40`.
fn share(row: &Value, part: &str, whole: &str) -> String {
    match row[part].as_i64() {
        None | Some(0) => String::new(),
        Some(count) => format!("{count} of {}", row[whole]),
    }
}

pub(crate) fn stats(found: &Value, ink: Ink) -> Result<Exit, Failure> {
    let paint = Paint(ink.colour);
    let list = |name: &str| found[name].as_array().map_or(&[][..], Vec::as_slice);
    let mut table = Table::new([
        "TASK",
        "RUNS",
        "FAILED",
        "TURNS",
        "P50",
        "P95",
        "SLOWEST",
        "IN",
        "NOW",
        "SINCE (UTC)",
    ]);
    let millis = |row: &Value, name: &str| took(row[name].as_f64());
    for row in list("tasks") {
        let status = row["status"].as_str().unwrap_or_default();
        table.row([
            paint.bold(&shown(&row["task"])),
            row["runs"].to_string(),
            share(row, "failed", "runs"),
            row["turns"].to_string(),
            millis(row, "p50_ms"),
            millis(row, "p95_ms"),
            millis(row, "slowest_ms"),
            shown(&row["slowest"]),
            paint.end(status),
            super::time(row["since"].as_str()),
        ]);
    }
    let mut out = table.finish(|head| paint.dim(head));
    if !list("steps").is_empty() {
        let mut table =
            Table::new(["STEP", "STARTED", "FAILED", "RETRIED", "P50", "P95", "SLOWEST", "WHAT"]);
        for row in list("steps") {
            let what = row["text"].as_str().unwrap_or_default();
            table.row([
                paint.bold(&shown(&row["path"])),
                row["started"].to_string(),
                share(row, "failed", "started"),
                share(row, "retried", "started"),
                millis(row, "p50_ms"),
                millis(row, "p95_ms"),
                millis(row, "slowest_ms"),
                text(what.lines().next().unwrap_or_default()),
            ]);
        }
        let _ = write!(out, "\n{}", table.finish(|head| paint.dim(head)));
    }
    print(&out)
}

/// Columns below each other: as many as there are.
pub(crate) fn rows(found: &Value, ink: Ink) -> Result<Exit, Failure> {
    let paint = Paint(ink.colour);
    let (columns, rows) = parts(found);
    let head: Vec<String> = columns.iter().map(shown).collect();
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| list(row).iter().map(shown).collect()).collect();
    let width = |at: usize| {
        let column = cells.iter().filter_map(|row| row.get(at)).chain(head.get(at));
        column.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &[String]| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut out = format!("{}\n", paint.dim(&line(&head)));
    for row in &cells {
        out.push_str(&line(row));
        out.push('\n');
    }
    print(&out)
}

/// As RFC 4180 says, with line feeds only. Characters that act on a terminal are drawn, line feeds stay.
pub(crate) fn csv(found: &Value) -> Result<Exit, Failure> {
    let (columns, rows) = parts(found);
    let mut out = String::new();
    for row in std::iter::once(columns).chain(rows.iter().map(list)) {
        let cells: Vec<String> = row.iter().map(field).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    print(&out)
}

fn field(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::String(text) => visible::lines(text),
        other => other.to_string(),
    };
    if text.is_empty() || text.contains([',', '"', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

fn parts(found: &Value) -> (&[Value], &[Value]) {
    (list(&found["columns"]), list(&found["rows"]))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
