//! Parts of shell text, and strings of the language.

use opal_config::Given;
use opal_core::Value;
use opal_core::value::Text;

/// A part of shell text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Reference(String),
}

pub(super) fn as_text(parts: &[Part]) -> String {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) | Part::Reference(text) => text.as_str(),
    });
    parts.collect()
}

/// As a string of the language.
pub(super) fn as_literal(parts: &[Part]) -> String {
    let mut out = "\"".to_owned();
    for part in parts {
        match part {
            Part::Reference(reference) => out.push_str(reference),
            Part::Text(text) => {
                let written = literal(text);
                out.push_str(
                    written
                        .strip_prefix('"')
                        .and_then(|it| it.strip_suffix('"'))
                        .unwrap_or_default(),
                );
            }
        }
    }
    out.push('"');
    out
}

/// A string of the language whose value is the text, byte for byte.
pub(super) fn literal(text: &str) -> String {
    Given::Data(Value::String(Text::Owned(text.to_owned()))).to_string()
}
