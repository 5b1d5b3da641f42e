//! `inputs.schema.json`: what the inputs of a module must be like.

mod subschemas;

use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind as ErrorKind;
use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationError, Validator};
use serde_json::{Map, Value};

use super::placeholders::is_placeholder;
use super::tree::place;
use crate::reference::shorten;
use subschemas::Nodes;

/// Nobody fills in more.
const MOST_OPEN: usize = 1_000;

/// A schema that can be held against inputs.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    document: Value,
}

/// A schema stands for itself: nothing is fetched, from no network and no disk.
struct Refuse;

impl Retrieve for Refuse {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("a schema of inputs cannot refer to anything outside itself".into())
    }
}

impl Schema {
    /// Reads a schema; the reason why it is none.
    pub fn read(text: &str) -> Result<Self, String> {
        let schema: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_retriever(Refuse)
            // The engine without backtracking: a pattern cannot take for ever.
            .with_pattern_options(PatternOptions::regex())
            .build(&schema)
            .map_err(|error| format!("it is not a JSON Schema: {error}"))
            .map(|validator| Self { validator, document: schema })
    }

    /// Where those of the inputs are that it calls secret (`writeOnly`), as JSON pointers.
    #[must_use]
    pub fn secrets(&self, inputs: &Map<String, Value>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        Nodes::of(&self.document).secrets("", &inputs.clone().into(), &mut found);
        found
    }

    /// Whether it wants a text at this path; none where it does not say.
    pub(super) fn wants_text(&self, keys: &[&str]) -> Option<bool> {
        Nodes::of(&self.document).path(keys).wants_text()
    }

    /// The first thing that does not fit, with the path and without the value.
    pub(super) fn fault(&self, inputs: &Map<String, Value>) -> Option<String> {
        let inputs = Value::Object(inputs.clone());
        self.validator.iter_errors(&inputs).next().map(|error| reported(&error))
    }

    /// The places that do not fit yet, where nobody has said anything; or the first that never will,
    /// because it is there and of another type, or not known at all.
    pub(super) fn open(&self, inputs: &Map<String, Value>) -> Result<Vec<String>, String> {
        let inputs = Value::Object(inputs.clone());
        let mut open = Vec::new();
        for error in self.validator.iter_errors(&inputs).take(MOST_OPEN) {
            let place = place(&error.instance_path().to_string());
            match error.kind() {
                ErrorKind::Type { .. } if is_said(error.instance()) => {
                    return Err(reported(&error));
                }
                ErrorKind::AdditionalProperties { .. }
                | ErrorKind::UnevaluatedProperties { .. }
                | ErrorKind::FalseSchema => return Err(reported(&error)),
                ErrorKind::Required { property } => {
                    let key = shorten(property.as_str().unwrap_or_default());
                    open.push(if place.is_empty() { key } else { format!("{place}.{key}") });
                }
                _ if place.is_empty() => open.push(".".to_owned()),
                _ => open.push(place),
            }
        }
        Ok(open)
    }
}

/// Whether something is there, and not only room for it.
fn is_said(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty() && !is_placeholder(text),
        _ => true,
    }
}

/// The path and what is wrong, without the value.
fn reported(error: &ValidationError<'_>) -> String {
    let place = place(&error.instance_path().to_string());
    let reason = error.masked_with("this value").to_string();
    if place.is_empty() {
        reason.replace("this value", "the inputs")
    } else {
        format!("`{place}`: {reason}")
    }
}
