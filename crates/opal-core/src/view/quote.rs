//! Constants as the shell would need them written at their place.
//!
//! Execution passes every constant as data; a view shows the text that would mean the same, so
//! that what is read cannot be mistaken for something else: `'a b'` is one word.

use crate::context::{Context, Place};
use crate::value::Value;

/// A constant in shell text. An Array is one word for each item.
pub(super) fn constant(value: &Value, place: Context) -> String {
    match value {
        Value::Array(items) => {
            let words: Vec<String> = items.iter().map(|item| constant(item, place)).collect();
            words.join(" ")
        }
        scalar => text(&plain(scalar), place),
    }
}

/// Text that is data at `place`.
pub(super) fn text(text: &str, place: Context) -> String {
    match place.place() {
        Place::Word | Place::Assignment | Place::Redirection => word(text, place),
        Place::Quoted => escaped(text, &['\\', '"', '$', '`']),
        Place::Heredoc => escaped(text, &['\\', '$', '`']),
        Place::Arithmetic | Place::Expansion | Place::Subscript => text.to_owned(),
    }
}

/// A scalar without any quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    }
}

fn word(text: &str, place: Context) -> String {
    let is_safe = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | '.' | '/' | ':' | '=' | '%' | '+' | ',' | '-' | '@')
    };
    if text.is_empty() {
        // Beside other text of the same word nothing is nothing.
        return if place.is_whole_word() { "''".to_owned() } else { String::new() };
    }
    if text.chars().all(is_safe) {
        return text.to_owned();
    }
    if text.chars().any(char::is_control) {
        let escapes = text.chars().map(|c| match c {
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        });
        return format!("$'{}'", escapes.collect::<String>());
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn escaped(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if special.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_written_as_its_place_needs_it() {
        let word = Context::new(Place::Word);
        let quoted = Context::new(Place::Quoted);
        for (given, place, shown) in [
            ("api", word, "api"),
            ("a b", word, "'a b'"),
            ("it's", word, r"'it'\''s'"),
            ("$HOME", word, "'$HOME'"),
            ("a\n\u{1b}[0m", word, r"$'a\n\x1b[0m'"),
            ("", word, ""),
            ("", word.whole_word(true), "''"),
            ("a \"b\" $c", quoted, r#"a \"b\" \$c"#),
            ("a \"b\" $c", Context::new(Place::Heredoc), r#"a "b" \$c"#),
            ("1 + 2", Context::new(Place::Arithmetic), "1 + 2"),
        ] {
            assert_eq!(constant(&Value::String(given.into()), place), shown, "{given:?}");
        }
        let words = Value::Array(vec![Value::text("a b"), Value::Int(-3)]);
        assert_eq!(constant(&words, word), "'a b' -3");
    }
}
