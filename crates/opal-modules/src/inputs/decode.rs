//! What a variable says: JSON where it is that, and else a text.
//!
//! JSON that would come out as something else is refused, as in a file of inputs.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::placeholders::is_placeholder;
use super::schema::Schema;
use super::tree::{Match, meant};
use crate::keep::{is_count_key, is_secret_key};
use crate::reference::shorten;

/// What a whole number is refused with.
pub(crate) const LARGE: &str = "does not fit in 64 bits; put it in quotes to make it a text";

/// What an input is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// A text, whatever it looks like.
    Text,
    /// A text, unless it is a list or an object.
    Word,
    Anything,
}

/// What the input at a path is to be: by the schema, by what it has been so far, by its key.
pub(super) fn wish(inputs: &Map<String, Value>, keys: &[&str], schema: Option<&Schema>) -> Wish {
    match schema.and_then(|schema| schema.wants_text(keys)) {
        Some(true) => return Wish::Text,
        Some(false) => return Wish::Anything,
        None => {}
    }
    let Some((first, others)) = keys.split_first() else { return Wish::Anything };
    let so_far = others.iter().try_fold(alike(inputs, first), |value, key| {
        value.and_then(Value::as_object).map(|map| alike(map, key))
    });
    let is_secret = || keys.last().is_some_and(|key| is_secret_key(key) && !is_count_key(key));
    let is_word = match so_far.flatten() {
        Some(Value::String(text)) if !text.is_empty() && !is_placeholder(text) => true,
        Some(Value::String(_) | Value::Null) | None => is_secret(),
        Some(_) => false,
    };
    if is_word { Wish::Word } else { Wish::Anything }
}

fn alike<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    map.get(&meant(map, key, Match::AnyCase).ok()?)
}

/// What a variable says where this is wished for. Where a text is, `1e3` is one.
pub(super) fn variable(text: String, wish: Wish) -> Result<Value, String> {
    let is_word = !text.trim_start().starts_with(['[', '{']);
    let stays = wish == Wish::Text || wish == Wish::Word && is_word;
    match json(&text) {
        Ok(value @ Value::String(_)) => Ok(value),
        Ok(value) if !stays => Ok(value),
        Err(Unread::Lossy(why)) if !stays => Err(why),
        _ => Ok(Value::String(text)),
    }
}

/// Why a text is not JSON that could be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    NoJson,
    /// It says something that would get lost.
    Lossy(String),
}

/// Reads a JSON text of which nothing gets lost.
pub(crate) fn json(text: &str) -> Result<Value, Unread> {
    let value = serde_json::from_str(text).map_err(|_| Unread::NoJson)?;
    lost(text).map_or(Ok(value), |why| Err(Unread::Lossy(why)))
}

/// What would get lost of a text that is JSON: a key that is there twice, a large whole number.
fn lost(json: &str) -> Option<String> {
    let mut keys: Vec<BTreeSet<String>> = Vec::new();
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => text_length(rest),
            '-' | '0'..='9' => {
                let is_end = |c: char| !(c.is_ascii_digit() || "+-.eE".contains(c));
                rest.find(is_end).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let (token, following) = rest.split_at(length);
        rest = following;
        match first {
            '{' | '[' => keys.push(BTreeSet::new()),
            '}' | ']' => drop(keys.pop()),
            '"' if rest.trim_start().starts_with(':') => {
                let key: String = serde_json::from_str(token).unwrap_or_default();
                let reported = format!("`{}` is given twice", shorten(&key));
                if keys.last_mut().is_some_and(|known| !known.insert(key)) {
                    return Some(reported);
                }
            }
            '-' | '0'..='9' if is_large(token) => return Some(format!("a number {LARGE}")),
            _ => {}
        }
    }
    None
}

/// Whether a number is a whole one that 64 bits cannot hold.
fn is_large(number: &str) -> bool {
    !number.contains(['.', 'e', 'E']) && number.parse::<i64>().is_err()
}

/// How far the text in quotes goes that this begins with.
fn text_length(json: &str) -> usize {
    let mut is_escaped = true;
    let end = json.find(|c| {
        let is_end = c == '"' && !is_escaped;
        // The first quote does not end it either.
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_would_come_out_as_something_else_is_refused() {
        let large = format!("a number {LARGE}");
        for (text, expected) in [
            ("12345678901234567890123", Some(large.as_str())),
            ("18446744073709551615", Some(large.as_str())),
            (r#"{"a": [-9223372036854775809]}"#, Some(large.as_str())),
            (r#"{"a": 1, "b": {"a": 2}, "\u0061": 3}"#, Some("`a` is given twice")),
            (r#"[{"a": 1}, {"a": "a\"a", "b": ["a", "a"]}]"#, None),
            (r#"{"a": "\\", "b": "12345678901234567890123"}"#, None),
            ("[9223372036854775807, -9223372036854775808, 1e30, 0.5, -0]", None),
        ] {
            let found = match json(text) {
                Err(Unread::Lossy(why)) => Some(why),
                read => read.map(|_| None).unwrap(),
            };
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        assert_eq!(json("{"), Err(Unread::NoJson));
    }

    #[test]
    fn lists_and_objects_are_decoded_wherever_no_schema_wants_a_text() {
        let read = |text: &str, wish| variable(text.to_owned(), wish).unwrap();
        let list = serde_json::json!([22, 80]);
        assert_eq!(read("[22,80]", Wish::Word), list);
        assert_eq!(read(" [22,80]", Wish::Anything), list);
        assert_eq!(read("[22,80]", Wish::Text), "[22,80]");
        assert_eq!((read("3", Wish::Word), read("3", Wish::Anything)), ("3".into(), 3.into()));
        let large = "12345678901234567890123";
        assert_eq!(read(large, Wish::Word), large);
        assert!(variable(large.to_owned(), Wish::Anything).is_err());
        assert!(variable(format!("[{large}]"), Wish::Word).is_err());
    }
}
