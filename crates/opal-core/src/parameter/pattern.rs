//! Whether a text has the form that a parameter asks for.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use regex::Regex;

/// Whether all of `text` matches a pattern of a descriptor.
///
/// Nothing matches an invalid one. There are few patterns, and making one takes
/// longer than a hundred uses of it: each is made once.
#[must_use]
pub fn matches(pattern: &'static str, text: &str) -> bool {
    static MADE: Mutex<BTreeMap<&str, Option<Regex>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let whole =
        made.entry(pattern).or_insert_with(|| Regex::new(&format!(r"\A(?:{pattern})\z")).ok());
    whole.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Whether a text is a pattern that can be used.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    Regex::new(&format!(r"\A(?:{pattern})\z")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn the_whole_text_matches_and_nothing_matches_an_invalid_pattern() {
        assert!(matches("a+", "aa"));
        assert!(!matches("a+", "aab"));
        for text in ["", "(", "a"] {
            assert!(!matches("(", text), "{text}");
        }
    }
}
