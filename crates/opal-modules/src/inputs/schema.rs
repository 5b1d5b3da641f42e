//! `inputs.schema.json`: what the inputs of a module must be like.

mod subschemas;

use std::collections::BTreeSet;
use std::sync::Arc;

use opal_core::schema::{Misfit, MisfitKind, Schemas, Unjudged};
use serde_json::{Map, Value};

use super::placeholders::is_placeholder;
use super::tree::place;
use crate::reference::shorten;
use subschemas::Nodes;

/// Nobody fills in more.
const MOST_OPEN: usize = 1_000;

/// A schema that can be held against inputs.
#[derive(Clone, Debug)]
pub struct Schema {
    schemas: Arc<dyn Schemas>,
    document: Value,
}

impl Schema {
    /// Reads a schema; the reason why it is none.
    pub fn read(text: &str, schemas: &Arc<dyn Schemas>) -> Result<Self, Unjudged> {
        let document: Value =
            serde_json::from_str(text).map_err(|error| Unjudged::NotJson(error.to_string()))?;
        schemas.judge(&document, None, 0)?;
        Ok(Self { schemas: Arc::clone(schemas), document })
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
        match self.misfits(inputs, 1) {
            Ok(misfits) => misfits.first().map(reported),
            Err(reason) => Some(reason),
        }
    }

    /// The places that do not fit yet, where nobody has said anything; or the first that never will,
    /// because it is there and of another type, or not known at all.
    pub(super) fn open(&self, inputs: &Map<String, Value>) -> Result<Vec<String>, String> {
        let document = Value::Object(inputs.clone());
        let mut open = Vec::new();
        for misfit in self.misfits(inputs, MOST_OPEN)? {
            let place = place(&misfit.place);
            let is_said = || document.pointer(&misfit.place).is_none_or(is_said);
            match &misfit.kind {
                MisfitKind::Type if is_said() => return Err(reported(&misfit)),
                MisfitKind::Unknown => return Err(reported(&misfit)),
                MisfitKind::Required(property) => {
                    let key = shorten(property);
                    open.push(if place.is_empty() { key } else { format!("{place}.{key}") });
                }
                _ if place.is_empty() => open.push(".".to_owned()),
                _ => open.push(place),
            }
        }
        Ok(open)
    }

    fn misfits(&self, inputs: &Map<String, Value>, most: usize) -> Result<Vec<Misfit>, String> {
        let inputs = Value::Object(inputs.clone());
        let judged = self.schemas.judge(&self.document, Some(&inputs), most);
        judged.map_err(|unjudged| unjudged.to_string())
    }
}

#[cfg(test)]
impl Schema {
    /// A schema that is judged in this process.
    pub(crate) fn here(text: &str) -> Result<Self, String> {
        Self::read(text, &engine()).map_err(|unjudged| unjudged.to_string())
    }
}

#[cfg(test)]
pub(crate) fn engine() -> Arc<dyn Schemas> {
    Arc::new(opal_extra::schemas::Engine)
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
fn reported(misfit: &Misfit) -> String {
    let place = place(&misfit.place);
    if place.is_empty() {
        misfit.reason.replace(Misfit::VALUE, "the inputs")
    } else {
        format!("`{place}`: {}", misfit.reason)
    }
}
