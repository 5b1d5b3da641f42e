//! Nodes to JSON: what a spec says where anything may appear.

use opal_core::{Code, Data, Diagnostic};
use serde_json::{Map, Number, Value};

use super::reference::shorten;
use opal_config::document::{Node, NodeKind};
use opal_config::report::Report;
use opal_core::gather::Gather as _;
use opal_yaml::scalar::{Meaning, meaning};

/// A mapping as JSON. `what` names it in messages.
pub(super) fn mapping(
    node: &Node,
    what: &str,
    report: &mut Report<'_>,
) -> Option<Map<String, Value>> {
    match value(node, report)? {
        Value::Object(map) => Some(map),
        _ => {
            let message = format!("{what} must be a mapping of keys to values");
            report.error(Code::ConfigValue, node.head(), message, "write `key: value`, or `{}`");
            None
        }
    }
}

/// A node as JSON; what cannot be one is reported.
pub(super) fn value(node: &Node, report: &mut Report<'_>) -> Option<Value> {
    match &node.kind {
        NodeKind::Scalar { text, plain: false } => Some(Value::String(text.clone())),
        NodeKind::Scalar { text, plain: true } => plain(node, text, report),
        NodeKind::List(items) => {
            // All of them are read, so that every fault is reported.
            let read: Vec<Option<Value>> = items.iter().map(|item| value(item, report)).collect();
            read.into_iter().collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        NodeKind::Map(pairs) => {
            let mut map = Map::new();
            let mut is_whole = true;
            for (key, element) in pairs {
                let element = value(element, report);
                match (key_of(key, &map, report), element) {
                    (Some(key), Some(element)) => drop(map.insert(key, element)),
                    _ => is_whole = false,
                }
            }
            is_whole.then_some(Value::Object(map))
        }
    }
}

fn key_of(key: &Node, map: &Map<String, Value>, report: &mut Report<'_>) -> Option<String> {
    if report.refuses_merge(key) {
        return None;
    }
    let NodeKind::Scalar { text, .. } = &key.kind else {
        report.error(Code::ConfigValue, key.head(), "a key must be a single word", "write a name");
        return None;
    };
    if map.contains_key(text) {
        let message = format!("`{}` is given twice", shorten(text));
        let error = Diagnostic::new(Code::ConfigRepeatedKey, key.span, message);
        report.push(error.help("remove one of them"));
        return None;
    }
    Some(text.clone())
}

fn plain(node: &Node, text: &str, report: &mut Report<'_>) -> Option<Value> {
    match meaning(text) {
        Meaning::Null => Some(Value::Null),
        Meaning::Bool(value) => Some(Value::Bool(value)),
        Meaning::Int(value) => Some(Value::from(value)),
        Meaning::Float(value) => Number::from_f64(value).map(Value::Number),
        Meaning::Text => Some(Value::String(text.to_owned())),
        Meaning::OddNumber => {
            let number = odd(text);
            if number.is_none() {
                let message = format!("JSON cannot represent the number `{}`", shorten(text));
                let help = format!(
                    "write `\"{}\"` for the text, or the number in its plain form",
                    shorten(text)
                );
                report.error(Code::ConfigValue, node.span, message, help);
            }
            number
        }
    }
}

/// A number that is written in an unusual way. With a zero before it, it is octal to some readers of
/// YAML and decimal to others; as text it stays what was written, as in `mode: 0755`.
fn odd(text: &str) -> Option<Value> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).ok().map(Value::from);
        }
    }
    let digits = text.trim_start_matches(['-', '+']);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && digits.len() > 1 && digits.starts_with('0') {
        return Some(Value::String(text.to_owned()));
    }
    let int = text.strip_prefix('+').unwrap_or(text).parse::<i64>().ok().map(Value::from);
    let float = || text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number);
    int.or_else(|| text.contains(['.', 'e', 'E']).then(float).flatten())
}

/// JSON as data.
pub(super) fn data(value: &Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(value) => number(value),
        Value::String(text) => Data::text(text.clone()),
        Value::Array(items) => Data::Array(items.iter().map(data).collect()),
        Value::Object(map) => {
            Data::Map(map.iter().map(|(key, value)| (key.clone(), data(value))).gathered())
        }
    }
}

/// Inputs hold no number that is not one of these: preparing a run sees to that.
pub(super) fn number(number: &Number) -> Data {
    match (number.as_i64(), number.as_f64()) {
        (Some(int), _) => Data::Int(int),
        (None, float) => Data::Float(float.unwrap_or_default()),
    }
}
