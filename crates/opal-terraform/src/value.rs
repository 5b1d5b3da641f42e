//! Values of providers: what attributes hold, with unknowns, within limits.
//!
//! | what | where |
//! |---|---|
//! | types, as schemas write them | [`Type`] |
//! | bytes of values | [`msgpack`] |
//! | values of opal, by type | [`convert`] |
//!
//! Every text may be a secret: it is wiped, and `Debug` shows only kinds.

pub mod convert;
pub mod msgpack;
mod types;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use opal_core::data::Secret;

pub use types::{NotType, Type};

/// How deep a value may be nested.
pub const MAX_DEPTH: usize = 64;

/// How many values one value may consist of.
pub const MAX_ELEMENTS: usize = 100_000;

/// One value. Lists, sets and tuples are the same here, and so are maps and objects: the type tells
/// them apart. A set is sorted and has each element once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Null,
    /// Known only after an apply.
    Unknown,
    Bool(bool),
    Number(Number),
    Text(Text),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
    /// A value where the schema leaves the type open, with its type.
    Typed(Box<(Type, Value)>),
}

impl Value {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text(Secret::new(text)))
    }

    #[must_use]
    pub fn int(number: i64) -> Self {
        Self::Number(Number::Int(number))
    }

    #[must_use]
    pub fn map<'a>(fields: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        Self::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The elements of a set: sorted, each once.
    #[must_use]
    pub fn set(mut items: Vec<Self>) -> Self {
        items.sort();
        items.dedup();
        Self::List(items)
    }

    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.expose()),
            Self::Typed(typed) => typed.1.as_text(),
            _ => None,
        }
    }

    /// The value itself, without the type that came with it. Two values mean the same where only one of
    /// them has its type with it: providers say types, configurations do not.
    #[must_use]
    pub fn plain(&self) -> &Self {
        match self {
            Self::Typed(typed) => typed.1.plain(),
            value => value,
        }
    }

    #[must_use]
    pub fn into_plain(self) -> Self {
        match self {
            Self::Typed(typed) => typed.1.into_plain(),
            value => value,
        }
    }

    /// Whether both say the same, whichever of them has types with it.
    #[must_use]
    pub fn says_same(&self, other: &Self) -> bool {
        match (self.plain(), other.plain()) {
            (Self::List(left), Self::List(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| left.says_same(right))
            }
            (Self::Map(left), Self::Map(right)) => {
                let same =
                    |((name, left), (other, right)): ((&String, &Self), (&String, &Self))| {
                        name == other && left.says_same(right)
                    };
                left.len() == right.len() && left.iter().zip(right).all(same)
            }
            (left, right) => left == right,
        }
    }

    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.plain(), Self::Null)
    }

    /// A field of an object, or an entry of a map. Null where there is none.
    #[must_use]
    pub fn field(&self, name: &str) -> &Self {
        match self {
            Self::Map(fields) => fields.get(name).unwrap_or(&Self::Null),
            Self::Typed(typed) => typed.1.field(name),
            _ => &Self::Null,
        }
    }

    #[must_use]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            Self::Typed(typed) => typed.1.items(),
            _ => &[],
        }
    }

    /// Whether any part of it is unknown.
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::List(items) => items.iter().any(Self::has_unknown),
            Self::Map(fields) => fields.values().any(Self::has_unknown),
            Self::Typed(typed) => typed.1.has_unknown(),
            _ => false,
        }
    }
}

/// The kind and nothing else.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Unknown => f.write_str("unknown"),
            Self::Bool(_) => f.write_str("bool(…)"),
            Self::Number(_) => f.write_str("number(…)"),
            Self::Text(_) => f.write_str("text(…)"),
            Self::List(items) => f.debug_list().entries(items).finish(),
            Self::Map(fields) => f.debug_map().entries(fields).finish(),
            Self::Typed(typed) => typed.1.fmt(f),
        }
    }
}

/// Text that is wiped, and compared by what it says.
#[derive(Clone)]
pub struct Text(pub Secret);

impl Text {
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.expose().cmp(other.expose())
    }
}

/// A number. A whole one that fits is always an `Int`, so that equal numbers are equal here.
#[derive(Clone)]
pub enum Number {
    Int(i64),
    Float(f64),
    /// More digits than the others can hold, in decimal.
    Long(String),
}

/// Whole numbers up to here are exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Number {
    #[must_use]
    pub fn float(number: f64) -> Self {
        if number.fract() == 0.0 && number.abs() <= EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
            return Self::Int(number as i64);
        }
        Self::Float(number)
    }

    /// A decimal number, as long as it likes.
    #[must_use]
    pub fn decimal(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain =
            |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
        if !digits.starts_with(|first: char| first.is_ascii_digit()) || !digits.bytes().all(plain) {
            return None;
        }
        if let Ok(number) = text.parse::<i64>() {
            return Some(Self::Int(number));
        }
        let float: f64 = text.parse().ok()?;
        // What the shortest form of the float repeats was a float.
        let is_float =
            float.is_finite() && (text == format!("{float}") || text == format!("{float:?}"));
        Some(if is_float { Self::float(float) } else { Self::Long(text.to_owned()) })
    }

    fn rank(&self) -> (u8, i64, f64, &str) {
        match self {
            Self::Int(number) => (0, *number, 0.0, ""),
            Self::Float(number) => (1, 0, *number, ""),
            Self::Long(text) => (2, 0, 0.0, text),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("number(…)")
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Long(text) => f.write_str(text),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let (kind, int, float, text) = self.rank();
        let (other_kind, other_int, other_float, other_text) = other.rank();
        (kind, int)
            .cmp(&(other_kind, other_int))
            .then_with(|| float.total_cmp(&other_float))
            .then_with(|| text.cmp(other_text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_a_value() {
        let value = Value::map([("a", Value::text("canary")), ("b", Value::int(5150))]);
        let shown = format!("{value:?}");
        assert!(!shown.contains("canary") && !shown.contains("5150"), "{shown}");
    }

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        for (left, right, equal) in [
            (Number::float(3.0), Number::Int(3), true),
            (Number::decimal("3").unwrap(), Number::Int(3), true),
            (Number::decimal("1.5").unwrap(), Number::float(1.5), true),
            (Number::float(1.5), Number::Int(1), false),
            (Number::decimal("18446744073709551616").unwrap(), Number::float(1.8e19), false),
        ] {
            assert_eq!(left == right, equal, "{left} {right}");
        }
        for text in ["", "-", "NaN", "inf", "0x10", "1 2", "--1"] {
            assert!(Number::decimal(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_set_has_one_order_and_each_element_once() {
        let items = || vec![Value::text("b"), Value::text("a"), Value::text("b")];
        assert_eq!(Value::set(items()).items().len(), 2);
        let mut other = items();
        other.reverse();
        assert_eq!(Value::set(items()), Value::set(other));
    }
}
