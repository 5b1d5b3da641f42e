//! The formatter: one form for every source.
//!
//! ```text
//! events ──collect──▶ pieces and comments ──print──▶ text
//! ```
//!
//! | what | where |
//! |---|---|
//! | what is printed in one go, and what is between | `piece` |
//! | which blanks the language has between two tokens | `spacing` |
//! | events in, pieces out: commas put right, brackets measured | `collect` |
//! | indentation, line feeds, blank lines, comments | `print` |
//!
//! Few rules and no options. Line breaks are the author's, within what the grammar leaves open; the
//! formatter decides indentation and blanks, and never looks into a shell step: its text is what
//! the plan shows and hashes.
//!
//! It reads the row of events, as the planner does, and builds no tree: one for an expression with
//! a hundred thousand operators is as deep as that, and the library builds it by recursion and in
//! quadratic time. Nothing here recurses, and every token is read a fixed number of times.

mod collect;
mod piece;
mod print;
mod spacing;

use std::borrow::Cow;

use opal_core::Diagnostic;

use crate::grammar::parse;
use crate::source;
use crate::vocabulary::Vocabulary;

/// What is changed besides the form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Turn `name: …` into `fun name() …`.
    pub migrate: bool,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text in its one form, or none where the source has errors: a broken file is never touched.
#[must_use]
pub fn format(text: &str, vocabulary: &dyn Vocabulary, style: Style) -> Option<String> {
    if source::characters(text).iter().any(Diagnostic::is_error) {
        return None;
    }
    let text = line_feeds_only(text);
    let parsed = parse(&text, vocabulary);
    // Nobody knows whether another indentation would change a block that was not read.
    if parsed.is_broken() || parsed.skipped.lines.is_some() {
        return None;
    }
    let pieces = collect::collect(&text, &parsed, style);
    let mut out = print::print(&pieces, text.len());
    if out.starts_with(BYTE_ORDER_MARK) {
        // A second mark is the text of a step, and must not become the mark of the file.
        out.insert(0, BYTE_ORDER_MARK);
    }
    Some(out)
}

/// CRLF is read as LF everywhere, heredocs included, so all of it can go before anything is read.
fn line_feeds_only(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n"))
}
