//! Constants as the shell would need them written at their place.
//!
//! Execution passes every constant as data; a view shows the text that would mean the same, so
//! that what is read cannot be mistaken for something else: `'a b'` is one word.

use std::borrow::Cow;

use super::visible;
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

/// Text that data follows: a variable of the shell at its end gets braces, since what follows
/// would read as more of its name.
pub(super) fn before_data(text: &str) -> Cow<'_, str> {
    let whole = Cow::Borrowed(text);
    let Some((before, name)) = text.rsplit_once('$') else { return whole };
    let escapes = before.len() - before.trim_end_matches('\\').len();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name && escapes % 2 == 0 { format!("{before}${{{name}}}").into() } else { whole }
}

/// A scalar without any quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    }
}

fn word(text: &str, place: Context) -> String {
    // Beside other text of the same word nothing is nothing.
    if text.is_empty() && !place.is_whole_word() { String::new() } else { shell_word(text) }
}

/// Text as one word of a shell, which can be read, and means the same when it is pasted.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_safe = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | '.' | '/' | ':' | '=' | '%' | '+' | ',' | '-' | '@')
    };
    let is_hidden = |c: char| visible::character(c) != c;
    if !text.is_empty() && text.chars().all(|c| is_safe(c) && !is_hidden(c)) {
        return text.to_owned();
    }
    if text.chars().any(is_hidden) {
        let escapes = text.chars().map(|c| match c {
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
            c if is_hidden(c) && u32::from(c) > 0xffff => format!("\\U{:08x}", u32::from(c)),
            c if is_hidden(c) => format!("\\u{:04x}", u32::from(c)),
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
    fn data_never_reads_as_more_of_a_name() {
        for (given, shown) in [
            ("echo \"$HOME", "echo \"${HOME}"),
            ("echo $a$B_1", "echo $a${B_1}"),
            ("echo \\$HOME", "echo \\$HOME"),
            ("echo \\\\$HOME", "echo \\\\${HOME}"),
            ("echo $1", "echo $1"),
            ("echo ${HOME}", "echo ${HOME}"),
            ("echo $(id)", "echo $(id)"),
        ] {
            assert_eq!(before_data(given), shown, "{given}");
        }
    }

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
