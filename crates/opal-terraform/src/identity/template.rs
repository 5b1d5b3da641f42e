//! Filling the places of a template: `{namespace|default}/{name}`, `{sha1(content)}`.

use std::fmt;

use opal_core::recipe::template::{From, Part, Place, Template};
use sha1::{Digest as _, Sha1};

use super::Filled;
use crate::value::{Number, Value};

/// A value that cannot be part of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Nothing was given.
    Missing(String),
    /// Neither a String nor an Int.
    Kind(String),
    /// A control character, or one that the recipe has between places.
    Character(String),
    /// Known only during the run.
    Unknown(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "`{path}` is not given"),
            Self::Kind(path) => write!(f, "`{path}` is neither a String nor an Int"),
            Self::Character(path) => {
                write!(f, "`{path}` has a character that separates the parts of an id")
            }
            Self::Unknown(path) => write!(f, "`{path}` is not known yet"),
        }
    }
}

/// What fills places.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    pub config: &'a Value,
    pub provider: &'a Value,
    pub mark: Option<&'a str>,
}

impl Filling<'_> {
    /// The text of a template. Each value is one that cannot be taken for several.
    pub fn text(&self, template: &Template) -> Result<String, Unfit> {
        let separators = template.separators();
        let mut text = String::new();
        for part in &template.0 {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Place(place) => {
                    let (path, value) = self.place(place)?;
                    let separates = |c: char| c.is_control() || separators.contains(c);
                    if value.chars().any(separates) {
                        return Err(Unfit::Character(path.to_owned()));
                    }
                    text.push_str(&value);
                }
            }
        }
        Ok(text)
    }

    /// The value of a template: of one place alone it is that value, of its own type.
    pub fn value(&self, template: &Template) -> Result<Value, Unfit> {
        if let [Part::Place(place @ Place { from: From::Argument(path), .. })] = &template.0[..] {
            let value = at(self.config, path);
            if matches!(value, Value::Number(_)) {
                return Ok(value.clone());
            }
            return self.place(place).map(|(_, text)| Value::text(text));
        }
        self.text(template).map(Value::text)
    }

    /// The arguments that are in a template as they are, each with what is in its place.
    #[must_use]
    pub fn filled(&self, template: &Template) -> Vec<Filled> {
        let each = template.0.iter().filter_map(|part| match part {
            Part::Place(Place { from: From::Argument(path), default }) => {
                let value = match (at(self.config, path), default) {
                    (Value::Null, Some(default)) => Value::text(default.as_str()),
                    (given, _) => given.clone(),
                };
                Some(Filled { path: path.clone(), value })
            }
            _ => None,
        });
        each.collect()
    }

    fn place<'p>(&self, place: &'p Place) -> Result<(&'p str, String), Unfit> {
        let (path, found) = match &place.from {
            From::Mark => ("mark", self.mark.map_or(Value::Null, Value::text)),
            From::Argument(path) => (path.as_str(), at(self.config, path).clone()),
            From::Provider(path) => (path.as_str(), at(self.provider, path).clone()),
            From::Digest(path) => match at(self.config, path).as_text() {
                Some(text) => (path.as_str(), Value::text(hex(&Sha1::digest(text.as_bytes())))),
                None => (path.as_str(), Value::Null),
            },
        };
        let text = match (&found, &place.default) {
            (Value::Text(text), _) => text.expose().to_owned(),
            (Value::Number(Number::Int(number)), _) => number.to_string(),
            (Value::Null, Some(default)) => default.clone(),
            (Value::Null, None) => return Err(Unfit::Missing(path.to_owned())),
            (Value::Unknown, _) => return Err(Unfit::Unknown(path.to_owned())),
            _ => return Err(Unfit::Kind(path.to_owned())),
        };
        if text.is_empty() { Err(Unfit::Missing(path.to_owned())) } else { Ok((path, text)) }
    }
}

/// A value by its path. A block that is a list of one is passed through: `metadata.name`.
#[must_use]
pub fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, name| match value {
        Value::List(items) => match &items[..] {
            [one] => one.field(name),
            _ => &Value::Null,
        },
        value => value.field(name),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
