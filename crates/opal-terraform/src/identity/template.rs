//! Text with places: `{namespace|default}/{name}`, `{sha1(content)}`, `{provider.region}`, `{mark}`.

use std::fmt;

use sha1::{Digest as _, Sha1};

use crate::value::{Number, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(Place),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    from: From,
    default: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum From {
    Argument(String),
    Digest(String),
    Provider(String),
    Mark,
}

/// Why a recipe is not one: E1403.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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

impl Template {
    pub fn read(text: &str) -> Result<Self, Invalid> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after
                .split_once('}')
                .ok_or_else(|| Invalid(format!("`{text}` has a `{{` without its `}}`")))?;
            if before.contains('}') || inside.contains('{') {
                return Err(Invalid(format!("`{text}` has brackets that do not match")));
            }
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Place(Place::read(inside)?));
            rest = after;
        }
        if rest.contains('}') {
            return Err(Invalid(format!("`{text}` has brackets that do not match")));
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        let beside = |pair: &[Part]| matches!(pair, [Part::Place(_), Part::Place(_)]);
        if parts.windows(2).any(beside) {
            return Err(Invalid(format!("`{text}` has nothing between two places")));
        }
        Ok(Self(parts))
    }

    /// The arguments that are in it as they are.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let each = self.0.iter().filter_map(|part| match part {
            Part::Place(Place { from: From::Argument(path), .. }) => Some(path.clone()),
            _ => None,
        });
        each.collect()
    }

    /// What is between its places. With one place, nothing can be mistaken for another part.
    fn separators(&self) -> String {
        let is_text = |part: &Part| matches!(part, Part::Text(_));
        let places = self.0.iter().filter(|part| !is_text(part)).count();
        let each = self.0.iter().filter_map(|part| match part {
            Part::Text(text) if places > 1 => Some(text.as_str()),
            _ => None,
        });
        each.collect()
    }
}

impl Place {
    fn read(inside: &str) -> Result<Self, Invalid> {
        let (path, default) = match inside.split_once('|') {
            Some((path, default)) => (path, Some(default.to_owned())),
            None => (inside, None),
        };
        let digested = path.strip_prefix("sha1(").and_then(|path| path.strip_suffix(')'));
        let name = digested.unwrap_or(path);
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        };
        if !name.split('.').all(is_name) {
            return Err(Invalid(format!("`{{{inside}}}` does not name an argument")));
        }
        let from = match (digested, path) {
            (Some(path), _) => From::Digest(path.to_owned()),
            (_, "mark") => From::Mark,
            (_, path) => match path.strip_prefix("provider.") {
                Some(path) => From::Provider(path.to_owned()),
                None => From::Argument(path.to_owned()),
            },
        };
        Ok(Self { from, default })
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
