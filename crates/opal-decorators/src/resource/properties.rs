//! Things that consist of a few named properties: what they should be, against what they are.

use opal_core::resource::Details;

use super::diff;

/// A property of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) expected: String,
    pub(super) actual: String,
}

impl Property {
    pub(super) fn new(
        name: &'static str,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        Self { name, expected: expected.into(), actual: actual.into() }
    }

    pub(super) fn differs(&self) -> bool {
        self.expected != self.actual
    }
}

/// What differs, for a message: `mode 0644, expected 0600; owner 0, expected 33`.
pub(super) fn differing(properties: &[Property]) -> String {
    let words = properties.iter().filter(|it| it.differs()).map(|it| {
        let Property { name, expected, actual } = it;
        format!("{name} {}, expected {}", or_none(actual), or_none(expected))
    });
    words.collect::<Vec<_>>().join("; ")
}

fn or_none(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}

/// A line for each of them, as a diff.
pub(super) fn compared(of: &str, properties: &[Property]) -> Details {
    let lines = |value: fn(&Property) -> &str| {
        properties.iter().map(|it| format!("{}: {}\n", it.name, value(it))).collect::<String>()
    };
    let (expected, actual) = (lines(|it| &it.expected), lines(|it| &it.actual));
    diff::unified((of, expected.as_bytes()), (of, actual.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_said_and_marked() {
        let properties = [Property::new("uid", "5", "7"), Property::new("shell", "/x", "/x")];
        assert_eq!(differing(&properties), "uid 7, expected 5");
        let diff = compared("user ann", &properties).report();
        assert!(diff.contains("-uid: 5\n+uid: 7\n shell: /x\n"), "{diff}");
    }
}
