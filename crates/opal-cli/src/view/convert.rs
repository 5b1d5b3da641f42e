//! What `opal convert` says about tasks and about a template.

use opal_convert::{Conversion, Format, Grade};
use opal_core::view::visible;
use opal_template::TemplateNote;
use serde_json::json;

use super::{Ink, print_json, say};
use crate::failure::{Exit, Failure};

/// A line of a template that cannot be converted, or that may not mean the same.
pub(crate) fn note(severity: &str, file: &str, note: &TemplateNote) {
    let TemplateNote { line, message, help } = note;
    say(&format!("{severity}: {file}:{line}: {message}\n  help: {help}\n"));
}

/// What became of each task, a line each.
pub(crate) fn report(file: &str, converted: &Conversion, ink: Ink) {
    let mut out = String::new();
    for outcome in &converted.outcomes {
        let name = match &outcome.renamed {
            Some(renamed) => format!("{} (now `{renamed}`)", outcome.name),
            None => outcome.name.clone(),
        };
        let why = match outcome.why.is_empty() {
            true => String::new(),
            false => format!(": {}", outcome.why.join("; ")),
        };
        let file = outcome.file.as_deref().unwrap_or(file);
        let text = format!("{file}:{}: {name}{why}", outcome.line).replace(['\n', '\r'], " ");
        let paint = match outcome.grade {
            Grade::Exact => "\x1b[32m",
            Grade::Adapted => "\x1b[33m",
            Grade::Omitted => "\x1b[31m",
        };
        let (paint, reset) = if ink.colour { (paint, "\x1b[0m") } else { ("", "") };
        let grade = outcome.grade.name();
        out.push_str(&format!("{paint}{grade:<7}{reset} {}\n", visible::lines(&text)));
    }
    let count = |grade| converted.count(grade);
    let (exact, adapted) = (count(Grade::Exact), count(Grade::Adapted));
    let omitted = count(Grade::Omitted);
    out.push_str(&format!("{exact} exact, {adapted} adapted, {omitted} omitted\n"));
    say(&out);
}

pub(crate) fn json(file: &str, format: Format, converted: &Conversion) -> Result<Exit, Failure> {
    let task = |outcome: &opal_convert::Outcome| {
        json!({
            "name": outcome.name,
            "function": outcome.renamed.as_ref().unwrap_or(&outcome.name),
            "file": outcome.file.as_deref().unwrap_or(file),
            "kind": if outcome.is_task { "task" } else { "other" },
            "line": outcome.line,
            "outcome": outcome.grade.name(),
            "why": outcome.why,
        })
    };
    print_json(&json!({
        "version": 1,
        "file": file,
        "format": format.name(),
        "source": converted.source,
        "tasks": converted.outcomes.iter().map(task).collect::<Vec<_>>(),
        "summary": {
            "exact": converted.count(Grade::Exact),
            "adapted": converted.count(Grade::Adapted),
            "omitted": converted.count(Grade::Omitted),
        },
    }))
}
