//! Constants: values from source text, the command line or a descriptor. They are shown in clear.

use std::collections::BTreeMap;
use std::fmt;

use crate::duration::Duration;
use crate::types::{Type, TypeRef};
use crate::view::visible;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Text),
    Duration(Duration),
    Array(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

/// Text that a descriptor holds in static memory or a source text owns.
pub type Text = std::borrow::Cow<'static, str>;

impl Value {
    /// A string constant for descriptors.
    #[must_use]
    pub const fn text(text: &'static str) -> Self {
        Self::String(Text::Borrowed(text))
    }

    #[must_use]
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Float(_) => Type::Float,
            Self::String(_) => Type::String,
            Self::Duration(_) => Type::Duration,
            Self::Array(_) => Type::Array(TypeRef::Static(&Type::Any)),
            Self::Map(_) => Type::Map(TypeRef::Static(&Type::Any)),
        }
    }
}

/// As the language writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::String(value) => write_string(value, f),
            Self::Duration(value) => write!(f, "{value}"),
            Self::Array(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
            Self::Map(fields) => {
                f.write_str("{")?;
                for (index, (key, item)) in fields.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    write_string(key, f)?;
                    write!(f, ": {item}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A string with the escapes of the language, and no others. What cannot be seen in a source is a number.
fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '@' => f.write_str("\\@")?,
            c if visible::is_hidden(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_shown_as_the_language_writes_it() {
        let shown = Value::text("a\"b\\\n\t@x\r").to_string();
        assert_eq!(shown, r#""a\"b\\\n\t\@x\u{d}""#);
        let hidden = Value::text("\u{202e}\u{2028}\u{feff}\u{e0041}\u{85}$x ü").to_string();
        assert_eq!(hidden, r#""\u{202e}\u{2028}\u{feff}\u{e0041}\u{85}$x ü""#);
    }
}
