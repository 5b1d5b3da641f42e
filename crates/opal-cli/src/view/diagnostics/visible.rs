//! Text that cannot do anything to a terminal.
//!
//! The renderer replaces some of these characters in source lines, but none in labels, help lines
//! and paths, and it lets C1 controls (`U+009B` starts an escape sequence) and direction marks
//! through everywhere.

use opal_core::view::visible::character;

/// What stands for `c` on a terminal. A tab stays one: source lines are drawn with theirs.
pub(super) fn visible(c: char) -> char {
    if c == '\t' { c } else { character(c) }
}

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
