//! GitHub's workflow commands: one line a diagnostic, shown beside the changed lines.

use std::fmt::Write as _;

use opal_core::view::visible;
use opal_core::{Diagnostic, Severity, diagnostic};

use super::places::Places;
use super::{Report, unlisted};

pub(crate) fn github(report: &Report<'_>, out: &mut String) {
    let places = Places::new(report.source.text);
    let (shown, more) = diagnostic::limit(report.diagnostics);
    for diagnostic in shown {
        command(report.source.name, &places, diagnostic, out);
    }
    for (code, count) in more {
        let _ = write!(out, "::{} file=", level(code.severity()));
        escape(report.source.name, &[':', ','], out);
        let _ = writeln!(out, ",title={}::{}", code.as_str(), unlisted(code, count));
    }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

fn command(name: &str, places: &Places<'_>, diagnostic: &Diagnostic, out: &mut String) {
    let level = level(diagnostic.severity());
    let start = places.position(diagnostic.primary.span.start);
    let end = places.position(diagnostic.primary.span.end);
    let _ = write!(out, "::{level} file=");
    escape(name, &[':', ','], out);
    let _ = write!(out, ",line={},endLine={}", start.line, end.line);
    // GitHub takes columns only from an annotation of one line.
    if start.line == end.line {
        let _ = write!(out, ",col={},endColumn={}", start.column, end.column);
    }
    let _ = write!(out, ",title={}::", diagnostic.code.as_str());
    let fix = diagnostic.fix.as_ref().map(|fix| &fix.title);
    escape(&diagnostic.message, &[], out);
    if !diagnostic.primary.text.is_empty() {
        escape("\n", &[], out);
        escape(&diagnostic.primary.text, &[], out);
    }
    for help in diagnostic.help.iter().chain(fix) {
        escape("\nhelp: ", &[], out);
        escape(help, &[], out);
    }
    out.push('\n');
}

/// Writes `text` so that it can end neither the line nor the property it stands in.
pub(crate) fn escape(text: &str, separators: &[char], out: &mut String) {
    for c in text.chars() {
        if matches!(c, '%' | '\r' | '\n') || separators.contains(&c) {
            let _ = write!(out, "%{:02X}", u32::from(c));
        } else {
            out.push(visible::source(c));
        }
    }
}
