//! Whether a text is one shell step, with exactly this text.

use opal_core::Registry;
use opal_plan::unit::{Piece, Statement, StatementKind, Work};
use opal_plan::{Words, lower};

use super::lessons::AT;

/// Whether `source` is read as one shell step that contains `text`. Marks of references count as
/// references.
pub(super) fn is_step(source: &str, text: &str, registry: &Registry) -> bool {
    let program = format!("fun x() {{\n    {}\n}}\n", source.replace(AT, "@"));
    let parse = opal_syntax::parse(&program, &Words(registry));
    if parse.is_broken() {
        return false;
    }
    let unit = lower::unit(&parse, &program);
    let ([function], []) = (unit.functions.as_slice(), unit.script.statements.as_slice()) else {
        return false;
    };
    let [Statement { kind: StatementKind::Step(step), .. }] = function.body.statements.as_slice()
    else {
        return false;
    };
    let Work::Shell(read) = &step.first.work else { return false };
    if !step.rest.is_empty() || !step.first.redirects.is_empty() {
        return false;
    }
    let mut found = String::new();
    for piece in &read.pieces {
        match piece {
            Piece::Text(text) => found.push_str(text),
            Piece::AtWord(name) => found.push_str(&name.text),
            Piece::Reference(..) => found.push(AT),
        }
    }
    has_all(&found, &shown(source), text)
}

/// The step is the text, except for a comment at its end.
fn has_all(found: &str, source: &str, text: &str) -> bool {
    let found = found.trim();
    match source.trim().strip_prefix(found) {
        Some("") => true,
        Some(rest) => rest.trim_start().starts_with('#') && text.contains('#'),
        None => false,
    }
}

/// With each reference as one mark, and `\@` as `@`.
fn shown(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some(at) = rest.find(AT) {
        out.push_str(&rest[..at].replace("\\@", "@"));
        out.push(AT);
        rest = &rest[at + 1..];
        rest = &rest[reference_end(rest)..];
    }
    out.push_str(&rest.replace("\\@", "@"));
    out
}

/// Where a reference that the emitter wrote ends: its path, and its arguments if there are any.
fn reference_end(text: &str) -> usize {
    let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let word = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
        end += word;
        let mut chars = text[end..].chars();
        let goes_on = chars.next() == Some('.') && chars.next().is_some_and(is_path);
        if !goes_on {
            break;
        }
        end += 1;
    }
    if !text[end..].starts_with('(') {
        return end;
    }
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (index, c) in text[end..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return end + index + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}
