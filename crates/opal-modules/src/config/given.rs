//! What a key was given.

use std::fmt;

use opal_core::{Value, value::Text};

/// A value of a configuration, ready for the planner.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    Data(Value),
    /// A regular expression, spelled so that it can stand in `r"…"`.
    Regex(String),
    /// Shell text, which opal never looks into.
    Command {
        text: String,
        /// Whether a string of the language compiles to exactly this text; otherwise it is pasted
        /// as it stands.
        plain: bool,
    },
}

/// As the language writes it.
impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(value) => write_value(value, f),
            Self::Regex(text) => write!(f, "r\"{text}\""),
            Self::Command { text, plain: true } => write_text(text, f),
            Self::Command { text, plain: false } => {
                f.write_str("@raw(")?;
                write_text(text, f)?;
                f.write_str(")")
            }
        }
    }
}

fn write_value(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::String(text) => write_text(text, f),
        Value::Array(items) => {
            f.write_str("[")?;
            for (index, item) in items.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_value(item, f)?;
            }
            f.write_str("]")
        }
        Value::Map(fields) => {
            f.write_str("{")?;
            for (index, (key, item)) in fields.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_text(key, f)?;
                f.write_str(": ")?;
                write_value(item, f)?;
            }
            f.write_str("}")
        }
        other => write!(f, "{other}"),
    }
}

/// A string of the language. Besides what [`Value`] escapes, characters that cannot be seen are
/// written as numbers: in a source they would be refused or warned about.
fn write_text(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let shown = Value::String(Text::Owned(text.to_owned())).to_string();
    for c in shown.chars() {
        match c {
            c if is_invisible(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    Ok(())
}

/// Marks that change the direction of text, or have no width.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}
