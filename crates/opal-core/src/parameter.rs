//! How arguments get to parameters: the one implementation of it.
//!
//! | question | where |
//! |---|---|
//! | which argument goes to which parameter | [`Binding`] |
//! | whether a value may be given to a parameter | [`check`], [`accepts`] |
//! | which value a word of the command line is | [`read_word`] |
//!
//! Decorators, functions of a file and tasks on the command line have parameters of different
//! types; [`Parameter`] is what binding needs to know of each. A value may be a literal, a value of
//! a plan that is partly open, or data at run time; [`Known`] is what checking needs to know of it.
//!
//! Errors are data ([`BindError`], [`Mismatch`], [`WordError`]): who reports them knows how the
//! value may be shown.

mod binding;
mod mismatch;
mod pattern;
mod word;

use crate::data::Data;
use crate::decorator::Param;
use crate::types::Type;
use crate::value::Value;

pub use binding::{BindError, Binding, ExactlyOneError, Parameter, exactly_one};
pub use mismatch::{Mismatch, Origin, expected, listed};
pub use pattern::{is_pattern, matches};
pub use word::{WordError, read_word};

/// A value, as far as it is known.
pub trait Known {
    /// [`Type::Any`] where it is not known: it gets the benefit of the doubt.
    fn type_of(&self) -> Type;

    fn as_text(&self) -> Option<&str>;

    fn as_int(&self) -> Option<i64>;

    fn as_float(&self) -> Option<f64> {
        None
    }

    /// The elements of an array by their numbers, the fields of a map by their names; none where they
    /// are not known.
    fn parts(&self) -> Option<Vec<(String, &dyn Known)>> {
        None
    }

    /// Whether all elements of an array or a map hold; none where there are no known elements.
    fn all(&self, holds: &dyn Fn(&dyn Known) -> bool) -> Option<bool>;

    /// Whether a text may be a regex: a plan has only the text of a regex.
    fn may_be_regex(&self) -> bool {
        false
    }
}

/// Whether `value` may be given to a parameter of a decorator.
///
/// # Errors
/// The first rule of the parameter that it breaks.
pub fn check(param: &Param, value: &dyn Known) -> Result<(), Mismatch> {
    accepts(&param.ty, value)?;
    if let Some(shape) = param.shape {
        return shape.check(value);
    }
    if let (Some((low, high)), Some(given)) = (param.range, value.as_int())
        && !(low..=high).contains(&given)
    {
        return Err(Mismatch::Range { low, high });
    }
    match (param.pattern, value.as_text()) {
        (Some(pattern), Some(text)) if !matches(pattern, text) => {
            Err(Mismatch::Pattern { pattern, docs: param.docs })
        }
        _ => Ok(()),
    }
}

/// Whether `value` may be given where the type is `wanted`.
///
/// # Errors
/// The type or the closed set that it is not of.
pub fn accepts(wanted: &Type, value: &dyn Known) -> Result<(), Mismatch> {
    if let (Type::OneOf(choices), Some(text)) = (wanted, value.as_text())
        && !choices.contains(text)
    {
        return Err(Mismatch::Choice(choices.clone()));
    }
    match fits(wanted, value) {
        true => Ok(()),
        false => Err(Mismatch::Type { wanted: wanted.clone(), given: value.type_of() }),
    }
}

fn fits(wanted: &Type, value: &dyn Known) -> bool {
    let given = value.type_of();
    let elements = match (wanted, &given) {
        (Type::Array(element), Type::Array(_)) | (Type::Map(element), Type::Map(_)) => {
            value.all(&|item| fits(element.get(), item))
        }
        _ => None,
    };
    match (wanted, value.as_text()) {
        _ if elements.is_some() => elements == Some(true),
        (Type::OneOf(choices), Some(text)) => choices.contains(text),
        (Type::Regex, Some(_)) if value.may_be_regex() => true,
        _ => wanted.accepts(&given),
    }
}

/// Elements of an array with their numbers as names.
pub fn numbered<'k>(items: impl Iterator<Item = &'k dyn Known>) -> Vec<(String, &'k dyn Known)> {
    items.enumerate().map(|(index, item)| (index.to_string(), item)).collect()
}

impl Known for Value {
    fn type_of(&self) -> Type {
        self.type_of()
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(given) => Some(*given),
            _ => None,
        }
    }

    fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(given) => Some(*given),
            _ => None,
        }
    }

    fn parts(&self) -> Option<Vec<(String, &dyn Known)>> {
        match self {
            Self::Array(items) => Some(numbered(items.iter().map(|item| item as &dyn Known))),
            Self::Map(fields) => Some(
                fields.iter().map(|(name, item)| (name.to_string(), item as &dyn Known)).collect(),
            ),
            _ => None,
        }
    }

    fn all(&self, holds: &dyn Fn(&dyn Known) -> bool) -> Option<bool> {
        match self {
            Self::Array(items) => Some(items.iter().all(|item| holds(item))),
            Self::Map(fields) => Some(fields.values().all(|item| holds(item))),
            _ => None,
        }
    }
}

impl Known for Data {
    fn type_of(&self) -> Type {
        self.type_of()
    }

    fn as_text(&self) -> Option<&str> {
        self.as_text()
    }

    fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(given) => Some(*given),
            _ => None,
        }
    }

    fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(given) => Some(*given),
            _ => None,
        }
    }

    fn parts(&self) -> Option<Vec<(String, &dyn Known)>> {
        match self {
            Self::Array(items) => Some(numbered(items.iter().map(|item| item as &dyn Known))),
            Self::Map(fields) => Some(
                fields.iter().map(|(name, item)| (name.to_string(), item as &dyn Known)).collect(),
            ),
            _ => None,
        }
    }

    fn all(&self, holds: &dyn Fn(&dyn Known) -> bool) -> Option<bool> {
        match self {
            Self::Array(items) => Some(items.iter().all(|item| holds(item))),
            Self::Map(fields) => Some(fields.values().all(|item| holds(item))),
            _ => None,
        }
    }

    fn may_be_regex(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
