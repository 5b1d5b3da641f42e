//! Values while a plan is made: they may be secret, so nothing here can be printed.

pub mod json;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::wiped::Wiped;

use crate::duration::Duration;
use crate::gather::Gather as _;
use crate::types::{Type, TypeRef};
use crate::value::Value;

/// Text that is wiped when its last owner lets go of it, and whose `Debug` shows nothing of it.
#[derive(Clone)]
pub struct Secret(Arc<Wiped<String>>);

impl Secret {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Arc::new(Wiped::new(text.into())))
    }

    /// The text itself. Whoever calls this answers for where it goes.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// How long it is, in characters: the one thing that placeholders tell.
    #[must_use]
    pub fn characters(&self) -> usize {
        self.0.chars().count()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A value of the language, wherever it came from.
#[derive(Clone)]
pub enum Data {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Secret),
    Duration(Duration),
    Array(Vec<Data>),
    Map(BTreeMap<String, Data>),
}

impl Data {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Secret::new(text))
    }

    #[must_use]
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Float(_) => Type::Float,
            Self::Text(_) => Type::String,
            Self::Duration(_) => Type::Duration,
            Self::Array(_) => Type::Array(TypeRef::Static(&Type::Any)),
            Self::Map(_) => Type::Map(TypeRef::Static(&Type::Any)),
        }
    }

    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.expose()),
            _ => None,
        }
    }
}

impl From<&Value> for Data {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::Float(*value),
            Value::String(value) => Self::text(value.as_ref()),
            Value::Duration(value) => Self::Duration(*value),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Map(fields) => {
                Self::Map(fields.iter().map(|(key, value)| (key.clone(), value.into())).gathered())
            }
        }
    }
}

/// The type and nothing else.
impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(…)", self.type_of())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_a_value() {
        let canary = "canary-5150";
        let data = Data::Array(vec![Data::text(canary), Data::Int(5150)]);
        assert!(!format!("{data:?} {:?}", Secret::new(canary)).contains("5150"));
    }
}
