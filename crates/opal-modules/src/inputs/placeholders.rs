//! Texts that still have to be filled in.

use serde_json::{Map, Value};

use crate::reference::shorten;

/// In any case, and not as a part of a longer word.
const PLACEHOLDERS: [&str; 6] =
    ["CHANGE_ME", "CHANGE-ME", "CHANGEME", "REPLACE_ME", "REPLACE-ME", "REPLACEME"];

/// The first text that still has to be filled in: its path, and the word.
pub(crate) fn placeholder(inputs: &Map<String, Value>) -> Option<(String, &'static str)> {
    placeholders(inputs).into_iter().next()
}

pub(crate) fn is_placeholder(text: &str) -> bool {
    marked(text).is_some()
}

pub(super) fn placeholders(inputs: &Map<String, Value>) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for (key, value) in inputs {
        held(&shorten(key), value, &mut found);
    }
    found
}

fn held(path: &str, value: &Value, found: &mut Vec<(String, &'static str)>) {
    match value {
        Value::String(text) => found.extend(marked(text).map(|word| (path.to_owned(), word))),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                held(&format!("{path}[{index}]"), item, found);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                held(&format!("{path}.{}", shorten(key)), value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The placeholder that a text holds.
fn marked(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_uppercase();
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphabetic());
    let is_alone = |word: &&str| {
        text.match_indices(*word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            is_edge(before.chars().next_back()) && is_edge(after.chars().next())
        })
    };
    PLACEHOLDERS.into_iter().find(is_alone)
}
