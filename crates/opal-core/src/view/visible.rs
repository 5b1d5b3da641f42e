//! Characters that would act on a terminal, hide, or turn the direction of text around.
//!
//! The one table of them: whatever is shown to people goes through [`character`].

use std::fmt::Write as _;

/// What stands for `c` on a terminal: `c` itself where it only shows itself. A tab and a line feed
/// do more than that; who wants to keep one does so before asking.
#[must_use]
pub fn character(c: char) -> char {
    match c {
        ' '..='~' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(REPLACEMENT),
        '\u{7f}' => '\u{2421}',
        // C1 controls: `U+009B` starts an escape sequence.
        '\u{80}'..='\u{9f}' => REPLACEMENT,
        // Some terminals break the line here.
        '\u{2028}' | '\u{2029}' => REPLACEMENT,
        _ if is_ignorable(c) || is_format(c) => REPLACEMENT,
        _ => c,
    }
}

/// Whether a character does more than show itself, or less.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    character(c) != c
}

/// A tab stays one: source lines are drawn with theirs.
#[must_use]
pub fn source(c: char) -> char {
    if c == '\t' { c } else { character(c) }
}

/// Unicode's `Default_Ignorable_Code_Point`: nothing is drawn for these. Marks and controls of
/// direction are among them.
const fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The rest of Unicode's format characters that no text is written with: they annotate and lay out
/// what is beside them.
const fn is_format(c: char) -> bool {
    matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}')
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

/// A path for one line of a terminal. Who names files can choose every character but NUL, line feeds too.
#[must_use]
pub fn path(path: &std::path::Path) -> String {
    line(&path.to_string_lossy())
}

/// The most characters of a message or a help line: a name in it may be a megabyte long.
const MAX_WORDS_CHARS: usize = 1000;

/// Words for one line of a terminal, cut where there are too many.
#[must_use]
pub fn words(text: &str) -> String {
    brief(text, MAX_WORDS_CHARS)
}

/// The same for words that may hold line feeds of their own.
#[must_use]
pub fn paragraphs(text: &str) -> String {
    cut(text, MAX_WORDS_CHARS, |c| if c == '\n' { c } else { source(c) })
}

/// At most `limit` characters of `text` for one line, with `…` for the rest.
#[must_use]
pub fn brief(text: &str, limit: usize) -> String {
    cut(text, limit, source)
}

fn cut(text: &str, limit: usize, show: impl Fn(char) -> char) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(limit).map(show).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
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
        let hides = "\u{200b}\u{2060}\u{feff}\u{e0000}\u{e0041}\u{e007f}\u{ad}\u{34f}\u{115f}\
                     \u{17b4}\u{180e}\u{200c}\u{200d}\u{2061}\u{206f}\u{3164}\u{fe0f}\u{ffa0}\u{fff0}\
                     \u{fffa}\u{1bca0}\u{1d173}\u{e0100}\u{e0fff}";
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
