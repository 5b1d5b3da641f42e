//! A name with places to fill: `{name_prefix}-{provider}-{module}`.

/// Words, and names between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Name(String),
}

impl Pattern {
    /// None where a bracket is open, or what is in brackets is not a name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, following) = after.split_once('}')?;
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_word) {
                return None;
            }
            parts.extend([Part::Text(before.to_owned()), Part::Name(name.to_owned())]);
            rest = following;
        }
        parts.push(Part::Text(rest.to_owned()));
        let is_closed = |part: &Part| !matches!(part, Part::Text(text) if text.contains('}'));
        (!text.is_empty() && parts.iter().all(is_closed))
            .then(|| Self { text: text.to_owned(), parts })
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn names(&self, wanted: &str) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Name(name) if name == wanted))
    }

    /// The name, or the first of its parts that has no value.
    pub fn fill<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> Result<String, &str> {
        let mut filled = String::new();
        for part in &self.parts {
            filled.push_str(match part {
                Part::Text(text) => text,
                Part::Name(name) => value(name).ok_or(name.as_str())?,
            });
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_filled_or_says_what_is_missing() {
        let pattern = Pattern::parse("a-{b}{c}.").unwrap();
        assert!(pattern.names("b") && !pattern.names("a-"));
        assert_eq!(pattern.fill(|_| Some("{c}")).unwrap(), "a-{c}{c}.", "filled once");
        assert_eq!(pattern.fill(|name| (name == "b").then_some("x")), Err("c"));
    }

    #[test]
    fn what_cannot_be_filled_is_not_a_pattern() {
        for text in ["", "{", "a}", "{a", "{}", "{a b}", "{{a}}", "{a.b}", "}{"] {
            assert_eq!(Pattern::parse(text), None, "{text}");
        }
    }
}
