//! Text with places: `{namespace|default}/{name}`, `{sha1(content)}`, `{provider.region}`, `{mark}`.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(pub Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Place(Place),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub from: From,
    /// What is taken where nothing is given.
    pub default: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// An argument of the step, by its path.
    Argument(String),
    /// SHA-1 of one.
    Digest(String),
    /// An argument of the provider.
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

    /// The arguments that must be given: those without a default.
    #[must_use]
    pub fn needed(&self) -> Vec<&str> {
        let each = self.0.iter().filter_map(|part| match part {
            Part::Place(Place {
                from: From::Argument(path) | From::Digest(path),
                default: None,
            }) => Some(path.as_str()),
            _ => None,
        });
        each.collect()
    }

    /// Whether the mark of a step is in it.
    #[must_use]
    pub fn has_mark(&self) -> bool {
        let is_mark = |part: &Part| matches!(part, Part::Place(Place { from: From::Mark, .. }));
        self.0.iter().any(is_mark)
    }

    /// What is between its places. With one place, nothing can be mistaken for another part.
    #[must_use]
    pub fn separators(&self) -> String {
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
