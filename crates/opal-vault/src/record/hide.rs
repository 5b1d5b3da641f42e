//! The documents of a record without the values that a vault knows.
//!
//! Text is hidden where it may come from someone: arguments, directories, commands, messages. What
//! a record is read by (kinds, times, paths of steps, the target) stays as it is, and so do opal's
//! own keys and numbers.

use serde_json::Value;

use super::line;
use crate::vault::Vault;
use opal_core::gather::Gather as _;

/// Under these keys is what a record is read by.
const NAMES: [&str; 15] = [
    "at",
    "decorator",
    "file",
    "finished_at",
    "header",
    "id",
    "kind",
    "names",
    "path",
    "place",
    "plan_hash",
    "started_at",
    "status",
    "stream",
    "target",
];

/// Below these, everything comes from users, the keys too.
const GIVEN: [&str; 7] = ["args", "arguments", "contract", "holders", "public", "source", "values"];

/// One document on one line, as it may be kept.
pub(super) fn document(line: Vec<u8>, vault: &Vault) -> Vec<u8> {
    if vault.is_empty() {
        return line;
    }
    let Ok(value) = serde_json::from_slice(&line) else {
        return vault.scrub_bytes(&line).bytes().to_vec();
    };
    let shown = hidden(&value, vault);
    if shown == value { line } else { line::value(&shown) }
}

/// The texts of a document, each whole in itself.
pub(super) fn hidden(value: &Value, vault: &Vault) -> Value {
    match value {
        Value::Object(map) => {
            let hide = |(key, value): (&String, &Value)| {
                let value = match key.as_str() {
                    name if NAMES.contains(&name) => value.clone(),
                    name if GIVEN.contains(&name) => given(value, vault),
                    _ => hidden(value, vault),
                };
                (key.clone(), value)
            };
            Value::Object(map.iter().map(hide).gathered())
        }
        Value::Array(items) => items.iter().map(|item| hidden(item, vault)).collect(),
        Value::String(_) => given(value, vault),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn given(value: &Value, vault: &Vault) -> Value {
    let shown = |text: &str| vault.scrub(text).text().into_owned();
    match value {
        Value::String(text) => shown(text).into(),
        Value::Array(items) => items.iter().map(|item| given(item, vault)).collect(),
        Value::Object(map) => {
            let shown = map.iter().map(|(key, value)| (shown(key), given(value, vault)));
            Value::Object(shown.gathered())
        }
        Value::Number(number) => {
            let text = number.to_string();
            let hidden = shown(&text);
            if hidden == text { value.clone() } else { hidden.into() }
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
}
