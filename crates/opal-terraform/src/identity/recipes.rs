//! What a recipe says about lists, with the tag in its places.

use opal_core::data::{Data, json};

use crate::value::{Type, Value, convert};

/// A configuration with the tag in its places.
#[must_use]
pub fn marked(config: &str, tag: &str) -> Value {
    let config = json::read(config).unwrap_or(Data::Null);
    // Every value fits a type that accepts any.
    let config = convert::from_data(&config, &Type::Dynamic, "list").unwrap_or(Value::Null);
    filled(&config, tag)
}

fn filled(config: &Value, tag: &str) -> Value {
    match config {
        Value::Text(text) => Value::text(text.expose().replace("{mark}", tag)),
        Value::List(items) => Value::List(items.iter().map(|item| filled(item, tag)).collect()),
        Value::Map(fields) => {
            let each = fields.iter().map(|(name, value)| (name.clone(), filled(value, tag)));
            Value::Map(each.collect())
        }
        other => other.clone(),
    }
}

/// The ids that a data source found: `ids`, or its own `id`.
#[must_use]
pub fn ids(state: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_text().filter(|it| !it.is_empty()).map(str::to_owned);
    match state.field("ids") {
        Value::List(items) => items.iter().filter_map(text).collect(),
        _ => text(state.field("id")).into_iter().collect(),
    }
}
