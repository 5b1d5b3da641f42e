//! One JSON document for all files. Keys are sorted and `version` changes when a key changes its
//! meaning or goes away; new keys may come at any time.

use opal_core::{Diagnostic, Severity, Span, diagnostic};
use serde_json::{Value, json};

use super::Report;
use super::places::Places;
use opal_core::gather::Gather as _;

const VERSION: u32 = 1;

pub(crate) fn json(reports: &[Report<'_>]) -> Value {
    let count = |severity: Severity| {
        let all = reports.iter().flat_map(|report| report.diagnostics);
        all.filter(|diagnostic| diagnostic.severity() == severity)
            .map(|it| 1 + it.more)
            .sum::<usize>()
    };
    json!({
        "version": VERSION,
        "files": reports.iter().map(file).collect::<Vec<_>>(),
        "summary": {
            "files": reports.len(),
            "errors": count(Severity::Error),
            "warnings": count(Severity::Warning),
            "notes": count(Severity::Note),
        },
    })
}

fn file(report: &Report<'_>) -> Value {
    let places = Places::new(report.source.text);
    let (shown, more) = diagnostic::limit(report.diagnostics);
    let entries = shown.into_iter().map(|diagnostic| entry(&places, diagnostic));
    let mut file =
        json!({ "file": report.source.name, "diagnostics": entries.collect::<Vec<_>>() });
    if !more.is_empty() {
        let more = more.into_iter().map(|(code, count)| (code.as_str().to_owned(), json!(count)));
        file["more"] = Value::Object(more.gathered());
    }
    file
}

fn entry(places: &Places<'_>, diagnostic: &Diagnostic) -> Value {
    let related = diagnostic.secondary.iter();
    let related =
        related.map(|label| json!({ "span": span(places, label.span), "message": label.text }));
    let mut entry = json!({
        "code": diagnostic.code.as_str(),
        "severity": diagnostic.severity().name(),
        "title": diagnostic.code.title(),
        "message": diagnostic.message,
        "span": span(places, diagnostic.primary.span),
        "label": diagnostic.primary.text,
        "related": related.collect::<Vec<_>>(),
        "help": diagnostic.help,
    });
    if let Some(fix) = &diagnostic.fix {
        let edits = fix.edits.iter();
        let edits = edits.map(|edit| json!({ "span": span(places, edit.span), "text": edit.text }));
        entry["fix"] = json!({ "title": fix.title, "edits": edits.collect::<Vec<_>>() });
    }
    entry
}

fn span(places: &Places<'_>, span: Span) -> Value {
    json!({ "start": position(places, span.start), "end": position(places, span.end) })
}

/// `offset` counts bytes from 0; `line` and `column` count from 1, columns in characters.
fn position(places: &Places<'_>, offset: u32) -> Value {
    let at = places.position(offset);
    json!({ "offset": offset, "line": at.line, "column": at.column })
}
