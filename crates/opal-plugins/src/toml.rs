//! Reading TOML: keys that are known, values of the right kind, each problem with its place.

use std::ops::Range;

use opal_core::{Code, Diagnostic, Span};
use opal_yaml::problems::Problems;
use toml_edit::{Document, Item, TableLike};

/// A TOML document; what is not TOML is a problem with a place.
pub(crate) fn document<'t>(text: &'t str, problems: &mut Problems) -> Option<Document<&'t str>> {
    match Document::parse(text) {
        Ok(document) => Some(document),
        Err(error) => {
            let message = error.message().trim().replace('\n', ", ");
            let span = place(error.span());
            let code = if message.contains("duplicate key") {
                problems.codes.repeated_key
            } else {
                problems.codes.syntax
            };
            let help = "write `key = \"value\"`, one on each line, under a `[table]`";
            problems.error(code, span, format!("invalid TOML: {message}"), help);
            None
        }
    }
}

pub(crate) fn place(range: Option<Range<usize>>) -> Span {
    range.map_or(Span::at(0), |range| Span::new(range.start as u32, range.end as u32))
}

/// The keys of a table that are not known.
pub(crate) fn unknown(table: &dyn TableLike, what: &str, known: &[&str], problems: &mut Problems) {
    for (name, _) in table.iter().filter(|(name, _)| !known.contains(name)) {
        let span = place(table.get_key_value(name).and_then(|(key, _)| key.span()));
        let message = format!("unknown key `{name}` in {what}");
        let error = Diagnostic::new(problems.codes.unknown_key, span, message);
        problems.unknown(error, name, known.iter().copied());
    }
}

pub(crate) fn table<'i>(
    item: &'i Item,
    what: &str,
    problems: &mut Problems,
) -> Option<&'i dyn TableLike> {
    let found = item.as_table_like();
    if found.is_none() {
        let message = format!("{what} expects a table, got {}", item.type_name());
        problems.error(
            problems.codes.value,
            place(item.span()),
            message,
            "write `key = value` below it",
        );
    }
    found
}

/// A text that may be there.
pub(crate) fn text(
    table: &dyn TableLike,
    key: &str,
    problems: &mut Problems,
) -> Option<(String, Span)> {
    let item = table.get(key)?;
    let span = place(item.span());
    match item.as_str() {
        Some(text) => Some((text.to_owned(), span)),
        None => {
            let message = format!("`{key}` expects a text, got {}", item.type_name());
            problems.error(problems.codes.value, span, message, format!("write `{key} = \"…\"`"));
            None
        }
    }
}

/// A list of texts that may be there.
pub(crate) fn texts(
    table: &dyn TableLike,
    key: &str,
    problems: &mut Problems,
) -> Option<Vec<(String, Span)>> {
    let item = table.get(key)?;
    let wrong = |span, problems: &mut Problems| {
        let message = format!("`{key}` expects a list of texts");
        problems.error(problems.codes.value, span, message, format!("write `{key} = [\"…\"]`"));
        None
    };
    let Some(list) = item.as_array() else { return wrong(place(item.span()), problems) };
    let mut found = Vec::new();
    for value in list {
        match value.as_str() {
            Some(text) => found.push((text.to_owned(), place(value.span()))),
            None => return wrong(place(value.span()), problems),
        }
    }
    Some(found)
}

/// A text that must be there and be understood.
pub(crate) fn parsed<T>(
    table: &dyn TableLike,
    key: &str,
    expects: &str,
    parse: impl FnOnce(&str) -> Option<T>,
    problems: &mut Problems,
) -> Option<T> {
    let (text, span) = text(table, key, problems)?;
    let found = parse(&text);
    if found.is_none() {
        invalid(problems.codes.value, key, &text, expects, span, problems);
    }
    found
}

pub(crate) fn invalid(
    code: Code,
    key: &str,
    text: &str,
    expects: &str,
    span: Span,
    problems: &mut Problems,
) {
    let message = format!("{text:?} is not a valid `{key}`");
    problems.error(code, span, message, format!("expects {expects}"));
}
