//! Variables, and where they are written.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use opal_core::Value;

use super::error::{Fault, InventoryError};

/// A line of a file; the whole of it where the line is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: Arc<str>,
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// What a variable was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Of INI always a String.
    Value(Value),
    /// Encrypted by Ansible Vault: opal has no key for it.
    Vault,
    /// A text with `{{ … }}` in it, which only Ansible computes.
    Template,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub given: Given,
    pub place: Place,
}

pub(super) type Variables = BTreeMap<String, Variable>;

impl Variable {
    pub(super) fn new(value: Value, place: Place) -> Self {
        let given = if has_template(&value) { Given::Template } else { Given::Value(value) };
        Self { given, place }
    }

    /// The value, or why it cannot be used.
    pub fn value(&self, name: &str) -> Result<&Value, InventoryError> {
        let fault = match &self.given {
            Given::Value(value) => return Ok(value),
            Given::Vault => Fault::Vault(name.to_owned()),
            Given::Template => Fault::Template(name.to_owned()),
        };
        Err(InventoryError::at(&self.place, fault))
    }
}

fn has_template(value: &Value) -> bool {
    match value {
        Value::String(text) => ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)),
        Value::Array(items) => items.iter().any(has_template),
        Value::Map(items) => items.values().any(has_template),
        _ => false,
    }
}
