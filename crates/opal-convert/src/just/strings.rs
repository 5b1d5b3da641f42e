//! Strings of a justfile.

use super::body::dedented;
use crate::form::Expr;

/// Where a string ends, after its opening quotes.
pub(super) fn end_of(inner: &str, quote: &str) -> Option<usize> {
    if quote.starts_with('\'') {
        return inner.find(quote);
    }
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        if rest.starts_with(quote) {
            return Some(at);
        }
        let mut chars = rest.chars();
        let first = chars.next()?;
        at += first.len_utf8();
        if first == '\\' {
            at += chars.next().map_or(0, char::len_utf8);
        }
    }
    None
}

/// Escapes of a string in double quotes.
pub(super) fn cooked(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('\\') => out.push('\\'),
            Some('"') => out.push('"'),
            Some('\n') => {}
            Some('u') => {
                let rest = chars.as_str();
                let digits = rest.strip_prefix('{').and_then(|it| it.split_once('}'));
                let (digits, after) = digits.ok_or("an escape `\\u` without `{…}`")?;
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                out.push(code.ok_or("an escape `\\u{…}` that is not a character")?);
                chars = after.chars();
            }
            other => return Err(format!("the escape `\\{}`", other.unwrap_or(' '))),
        }
    }
    Ok(out)
}

/// Without the first line end and the common indentation.
pub(super) fn unindented(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    dedented(&text.split('\n').collect::<Vec<_>>()).join("\n")
}

/// A string with `~`, `$NAME` and `${NAME:-default}`.
pub(super) fn expanded(text: &str) -> Expr {
    let mut parts = Vec::new();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('~').filter(|it| it.is_empty() || it.starts_with('/')) {
        parts.push(Expr::Env("HOME".to_owned(), None));
        rest = after;
    }
    while let Some((before, after)) = rest.split_once('$') {
        parts.push(Expr::text(before));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, default, left) = match after.strip_prefix('{').and_then(|it| it.split_once('}'))
        {
            Some((inner, left)) => match inner.split_once(":-") {
                Some((name, default)) => (name, Some(default), left),
                None => (inner, None, left),
            },
            None => {
                let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
                (&after[..end], None, &after[end..])
            }
        };
        if name.is_empty() || !name.chars().all(is_name) {
            return Expr::Unsupported(
                "a string with `$` in a form that is not understood".to_owned(),
            );
        }
        parts.push(Expr::Env(name.to_owned(), default.map(|it| Box::new(Expr::text(it)))));
        rest = left;
    }
    parts.push(Expr::text(rest));
    Expr::concat(parts)
}
