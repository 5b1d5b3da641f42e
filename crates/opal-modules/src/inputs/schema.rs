//! `inputs.schema.json`: what the inputs of a module must be like.

mod evaluate;
mod keywords;
mod number;
mod places;
mod rules;
mod subschemas;
#[cfg(test)]
mod tests;
mod uri;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use self::evaluate::{Fault, Kind, faults};
use self::rules::Rules;
use self::subschemas::Nodes;
use super::placeholders::is_placeholder;
use super::tree::place;
use crate::reference::shorten;

/// Nobody fills in more.
const MOST_OPEN: usize = 1_000;

/// A schema that can be held against inputs: JSON Schema, draft 2020-12. It is complete in itself:
/// nothing is fetched, from no network and no disk.
#[derive(Debug)]
pub struct Schema {
    rules: Rules,
    document: Value,
}

impl Schema {
    /// Reads a schema; the reason why it is none.
    pub fn read(text: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let rules = Rules::read(&document);
        let rules = rules.map_err(|reason| format!("it is not a JSON Schema: {reason}"))?;
        Ok(Self { rules, document })
    }

    fn nodes(&self) -> Nodes<'_> {
        Nodes::of(&self.document, &self.rules.places)
    }

    /// Where those of the inputs are that it calls secret (`writeOnly`), as JSON pointers.
    #[must_use]
    pub fn secrets(&self, inputs: &Map<String, Value>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.nodes().secrets("", &inputs.clone().into(), &mut found);
        found
    }

    /// Whether it wants a text at this path; none where it does not say.
    pub(super) fn wants_text(&self, keys: &[&str]) -> Option<bool> {
        self.nodes().path(keys).wants_text()
    }

    /// The first thing that does not fit, with the path and without the value.
    pub(super) fn fault(&self, inputs: &Map<String, Value>) -> Option<String> {
        let inputs = Value::Object(inputs.clone());
        faults(&self.rules, &inputs, 1).first().map(reported)
    }

    /// The places that do not fit yet, where nobody has said anything; or the first that never will,
    /// because it is there and of another type, or not known at all.
    pub(super) fn open(&self, inputs: &Map<String, Value>) -> Result<Vec<String>, String> {
        let inputs = Value::Object(inputs.clone());
        let mut open = Vec::new();
        for fault in faults(&self.rules, &inputs, MOST_OPEN) {
            let place = place(&fault.place);
            match &fault.kind {
                Kind::Type if is_said(fault.value) => return Err(reported(&fault)),
                Kind::Unexpected => return Err(reported(&fault)),
                Kind::Required(key) => {
                    let key = shorten(key);
                    open.push(if place.is_empty() { key } else { format!("{place}.{key}") });
                }
                Kind::Type | Kind::Other if place.is_empty() => open.push(".".to_owned()),
                Kind::Type | Kind::Other => open.push(place),
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
fn reported(fault: &Fault<'_>) -> String {
    let place = place(&fault.place);
    if place.is_empty() {
        fault.reason.replace("this value", "the inputs")
    } else {
        format!("`{place}`: {}", fault.reason)
    }
}
