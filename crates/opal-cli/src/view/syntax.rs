//! What `opal self syntax` shows.

use std::fmt::Write as _;

use opal_core::{Diagnostic, LineIndex, Registry, Span, Type};
use opal_plan::Words;
use opal_syntax::classes::{Classes, KEYWORDS};
use opal_syntax::{Parse, Vocabulary};
use serde_json::{Value, json};

use super::diagnostics::visible;
use super::{print, print_json};
use crate::failure::{Exit, Failure};

/// Places are bytes from the beginning of the text.
pub(crate) fn show(
    file: &str,
    text: &str,
    parse: &Parse,
    classes: &Classes,
    json: bool,
) -> Result<Exit, Failure> {
    if !json {
        return print(&human(text, classes));
    }
    let spans = |spans: &[Span]| -> Vec<Value> {
        spans.iter().map(|span| json!({"start": span.start, "end": span.end})).collect()
    };
    let runs = classes
        .runs
        .iter()
        .map(|(span, class)| json!({"start": span.start, "end": span.end, "class": class.name()}));
    print_json(&json!({
        "version": 1,
        "file": file,
        "errors": parse.errors.iter().filter(|error| Diagnostic::is_error(error)).count(),
        "classes": runs.collect::<Vec<_>>(),
        "functions": spans(&classes.functions),
        "blocks": spans(&classes.blocks),
        "steps": spans(&classes.steps),
    }))
}

/// `LINE:COLUMN  CLASS  TEXT`, without what has no class.
fn human(text: &str, classes: &Classes) -> String {
    let lines = LineIndex::new(text);
    let mut out = String::new();
    for (span, class) in &classes.runs {
        let shown = text[span.range()].trim();
        if shown.is_empty() {
            continue;
        }
        let place = lines.position(text, span.start);
        let place = format!("{}:{}", place.line, place.column);
        let first = shown.lines().next().unwrap_or_default();
        let more = if shown.contains('\n') { " …" } else { "" };
        let _ = writeln!(out, "{place:<8} {:<12} {}{more}", class.name(), visible(first));
    }
    out
}

/// The words that grammars are made with.
pub(crate) fn words(registry: &Registry, json: bool) -> Result<Exit, Failure> {
    let words = Words(registry);
    let paths = registry.iter().filter_map(|it| Some((it.path, words.lookup(it.path)?)));
    if !json {
        let paths: Vec<_> = paths.map(|(path, _)| format!("@{path}")).collect();
        let row = |what: &str, all: &[&str]| format!("{what}: {}\n", all.join(" "));
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        return print(
            &[row("keywords", &KEYWORDS), row("types", &Type::NAMES), row("paths", &paths)]
                .concat(),
        );
    }
    let paths = paths.map(|(path, kind)| {
        json!({
            "path": path,
            "value": kind.value,
            "action": kind.action,
            "endpoint": kind.endpoint,
            "text": kind.text,
            "named": kind.named,
        })
    });
    print_json(&json!({
        "version": 1,
        "keywords": KEYWORDS,
        "types": Type::NAMES,
        "paths": paths.collect::<Vec<_>>(),
    }))
}
