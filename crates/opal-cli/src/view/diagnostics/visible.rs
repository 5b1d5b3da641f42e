//! Text that cannot do anything to a terminal.
//!
//! The renderer replaces some of these characters in source lines, but none in labels, help lines
//! and paths, and it lets C1 controls (`U+009B` starts an escape sequence) and direction marks
//! through everywhere.

/// What stands for `c` on a terminal: `c` itself, unless it acts on the terminal or hides.
pub(super) fn visible(c: char) -> char {
    match c {
        '\t' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(REPLACEMENT),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' => REPLACEMENT,
        // Direction marks, embeddings, overrides and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => REPLACEMENT,
        '\u{2066}'..='\u{2069}' => REPLACEMENT,
        // Some terminals break the line here.
        '\u{2028}' | '\u{2029}' => REPLACEMENT,
        // Nothing is drawn for these, so a caret below them would point at nothing.
        '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => REPLACEMENT,
        _ => c,
    }
}

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// The most characters of a message or a help line: a name in it may be a megabyte long.
const LONGEST_WORDS_CHARS: usize = 1000;

/// Words for one line of a terminal.
pub(crate) fn line(text: &str) -> String {
    cut(text, LONGEST_WORDS_CHARS, visible)
}

/// Words that may hold line feeds of their own.
pub(super) fn lines(text: &str) -> String {
    cut(text, LONGEST_WORDS_CHARS, |c| if c == '\n' { c } else { visible(c) })
}

/// At most `limit` characters of `text` for one line, with `…` for the rest.
pub(super) fn brief(text: &str, limit: usize) -> String {
    cut(text, limit, visible)
}

fn cut(text: &str, limit: usize, show: impl Fn(char) -> char) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(limit).map(show).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
