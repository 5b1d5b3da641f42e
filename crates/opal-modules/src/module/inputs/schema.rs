//! `inputs.schema.json`: what the inputs of a module must be like.

use jsonschema::{Draft, PatternOptions, Retrieve, Uri, Validator};
use serde_json::{Map, Value};

use super::shorten;

/// A schema that can be held against inputs.
#[derive(Debug)]
pub struct Schema(Validator);

/// A schema stands for itself: nothing is fetched, from no network and no disk.
struct Refuse;

impl Retrieve for Refuse {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("a schema of inputs refers to nothing outside of itself".into())
    }
}

impl Schema {
    /// Reads a schema; the reason why it is none.
    pub fn read(text: &str) -> Result<Self, String> {
        let schema: Value =
            serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_retriever(Refuse)
            // The engine without backtracking: a pattern cannot take for ever.
            .with_pattern_options(PatternOptions::regex())
            .build(&schema)
            .map(Self)
            .map_err(|error| format!("it is no JSON Schema: {error}"))
    }

    /// The first thing that does not fit, with the path and without the value.
    pub(super) fn fault(&self, inputs: &Map<String, Value>) -> Option<String> {
        let inputs = Value::Object(inputs.clone());
        let error = self.0.iter_errors(&inputs).next()?;
        let path = error.instance_path().to_string();
        let place = path.trim_start_matches('/').replace('/', ".");
        let reason = error.masked_with("this value").to_string();
        Some(if place.is_empty() {
            reason.replace("this value", "the inputs")
        } else {
            format!("`{}`: {reason}", shorten(&place))
        })
    }
}
