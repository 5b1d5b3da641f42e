//! Things that consist of a few named properties: what they should be, against what they are.

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

/// The names of those that differ, for a message.
pub(super) fn differing(properties: &[Property]) -> String {
    let names = properties.iter().filter(|it| it.differs()).map(|it| it.name);
    names.collect::<Vec<_>>().join(", ")
}

/// A line for each of them, as a diff.
pub(super) fn compared(of: &str, properties: &[Property]) -> String {
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
    fn only_what_differs_is_named_and_marked() {
        let properties = [Property::new("uid", "5", "7"), Property::new("shell", "/x", "/x")];
        assert_eq!(differing(&properties), "uid");
        let diff = compared("user ann", &properties);
        assert!(diff.contains("-uid: 5\n+uid: 7\n shell: /x\n"), "{diff}");
    }
}
