//! What a key was given.

use std::fmt;

use opal_core::{Value, value::Text};

use super::expressions;

/// A value of a configuration, ready for the planner.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    Data(Value),
    /// Data whose texts refer to variables of the configuration.
    Open {
        value: Value,
        whole: Whole,
    },
    /// A regular expression, spelled so that it can appear in `r"…"`.
    Regex(String),
    /// Shell text, which opal never looks into.
    Command {
        text: String,
        /// Whether a string of the language compiles to exactly this text; otherwise it is pasted
        /// as it is.
        plain: bool,
    },
}

/// Where a text that is nothing but a reference stands for the value itself, whatever its type; in
/// other places it is a text with the value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    pub outside: bool,
    /// As an element of a list or a mapping.
    pub inside: bool,
}

/// As the language writes it.
impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(value) => write_value(value, None, f),
            Self::Open { value, whole } => write_value(value, Some(*whole), f),
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

fn write_value(value: &Value, whole: Option<Whole>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let inside = whole.map(|whole| Whole { outside: whole.inside, ..whole });
    match value {
        Value::String(text) => match whole {
            Some(whole) if whole.outside && expressions::is_reference(text) => f.write_str(text),
            Some(_) => write_open(text, f),
            None => write_text(text, f),
        },
        Value::Array(items) => {
            f.write_str("[")?;
            for (index, item) in items.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_value(item, inside, f)?;
            }
            f.write_str("]")
        }
        Value::Map(fields) => {
            f.write_str("{")?;
            for (index, (key, item)) in fields.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_text(key, f)?;
                f.write_str(": ")?;
                write_value(item, inside, f)?;
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

/// The same, with the references that are in it. A backslash before an `@` keeps it a character.
fn write_open(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let shown = Value::String(Text::Owned(text.to_owned())).to_string();
    // Written out, a character is `\@`, and one with a backslash before it `\\\@`.
    let shown = shown.replace("\\@var.", "@var.").replace("\\\\@var.", "\\@var.");
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
