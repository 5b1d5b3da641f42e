//! Characters that would act on a terminal, hide, or turn the direction of text around.
//!
//! The one table of them: whatever is shown to people goes through [`character`].

use std::fmt::Write as _;

/// What stands for `c` on a terminal: `c` itself where it only shows itself. A tab and a line feed
/// do more than that; who wants to keep one does so before asking.
#[must_use]
pub fn character(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(REPLACEMENT),
        '\u{7f}' => '\u{2421}',
        // C1 controls: `U+009B` starts an escape sequence.
        '\u{80}'..='\u{9f}' => REPLACEMENT,
        // Direction marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => REPLACEMENT,
        '\u{2066}'..='\u{2069}' => REPLACEMENT,
        // Some terminals break the line here.
        '\u{2028}' | '\u{2029}' => REPLACEMENT,
        // Nothing is drawn for these.
        '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => REPLACEMENT,
        _ => c,
    }
}

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Whole text for a terminal. A line feed stays one.
#[must_use]
pub fn lines(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { character(c) }).collect()
}

/// Text for one line of a terminal, whole.
#[must_use]
pub fn line(text: &str) -> String {
    text.chars().map(character).collect()
}

/// A JSON document in which every such character is written as an escape. JSON itself lets those
/// beyond ASCII through; outside of strings it has none.
#[must_use]
pub fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if c == '\n' || character(c) == c {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_gets_through() {
        let hostile = "a\u{1b}[31m\u{9b}\u{202e}\r\t\u{7f}\0b";
        assert_eq!(line(hostile), "a␛[31m��␍␉␡␀b");
        assert_eq!(lines("a\nb"), "a\nb");
        assert_eq!(line("a\nb"), "a␊b");
    }

    #[test]
    fn what_hides_or_turns_text_around_is_replaced() {
        let turns = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202d}\u{2066}\u{2069}";
        let breaks = "\u{2028}\u{2029}\u{85}";
        let hides = "\u{200b}\u{2060}\u{feff}\u{e0000}\u{e0041}\u{e007f}";
        for c in [turns, breaks, hides].concat().chars() {
            assert_eq!(character(c), REPLACEMENT, "{c:?}");
        }
    }

    #[test]
    fn ordinary_text_of_any_language_stays_as_it_is() {
        let text = "grün 緑 🔒 é";
        assert_eq!(line(text), text);
    }
}
