//! Arguments: constants as plain JSON, all else as objects that say what they are.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Node, json};

use crate::gather::Gather as _;
use crate::plan::{Arg, Piece, Plan};
use crate::value::Value;
use crate::view::ink::Ink;
use crate::view::words::{Words, handle_use_text, reference};

pub(super) fn node(plan: &Plan, arg: &Arg) -> Node {
    match arg {
        Arg::Const(value) => constant(value),
        Arg::Value(key) => {
            let shown = plan.values.get(key).map(|value| value.placeholder.to_string());
            json!({"$value": &**key, "shown": shown.unwrap_or_else(|| reference(key))})
        }
        Arg::Deferred(index) => {
            let key = plan.deferred.get(*index as usize).map_or("", |deferred| &deferred.key);
            json!({"$deferred": key, "shown": reference(key)})
        }
        Arg::Handle(handle) => json!({
            "$handle": format!("opal:h:{}", handle.id),
            "shown": handle_use_text(handle),
        }),
        Arg::Text(pieces) => json!({"$text": text(plan, pieces)}),
        Arg::Shell(pieces) => json!({"$shell": shell_text(plan, pieces)}),
        Arg::Array(items) => items.iter().map(|item| node(plan, item)).collect(),
        Arg::Map(fields) => {
            map(fields.iter().map(|(name, item)| (name.clone(), node(plan, item))).gathered())
        }
    }
}

/// A constant. A duration is text, as the language writes it.
pub(super) fn constant(value: &Value) -> Node {
    match value {
        Value::Null => Node::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        // JSON has no infinity; `From` would quietly write null.
        Value::Float(value) if !value.is_finite() => value.to_string().into(),
        Value::Float(value) => (*value).into(),
        Value::String(text) => text.as_ref().into(),
        Value::Duration(value) => value.to_string().into(),
        Value::Array(items) => items.iter().map(constant).collect(),
        Value::Map(fields) => map(constants(fields)),
    }
}

pub(super) fn constants(values: &BTreeMap<String, Value>) -> Map<String, Node> {
    values.iter().map(|(name, value)| (name.clone(), constant(value))).gathered()
}

fn map(fields: Map<String, Node>) -> Node {
    let is_plain = !fields.keys().any(|name| name.starts_with('$'));
    if is_plain { fields.into() } else { json!({"$map": fields}) }
}

/// Text of the shell as the tree shows it.
pub(super) fn shell_text(plan: &Plan, pieces: &[Piece]) -> String {
    let mut ink = Ink::exact();
    Words::exact(plan).shell(pieces, &mut ink);
    ink.finish()
}

/// A string that holds run-time values, in the language's quotes.
fn text(plan: &Plan, pieces: &[Piece]) -> String {
    let mut ink = Ink::exact();
    Words::exact(plan).arg(&Arg::Text(pieces.to_vec()), &mut ink);
    ink.finish()
}
