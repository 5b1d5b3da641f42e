//! Text for files: without what acts on a terminal, and escaped.

use std::fmt::Write as _;

use opal_core::view::visible;

use crate::colours::plain;
use crate::printed::Printed;

/// A character that a page or an XML document may contain: controls are drawn as symbols. XML 1.0
/// forbids two more.
pub(crate) fn character(c: char) -> char {
    match c {
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c => visible::character(c),
    }
}

pub(crate) fn line(text: &str) -> String {
    text.chars().map(character).collect()
}

pub(crate) fn lines(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { character(c) }).collect()
}

/// The last lines that were printed, as plain words; the whole output has more or not.
pub(crate) fn last_lines(printed: &Printed, most: usize) -> Vec<String> {
    let [first, last] = printed.parts().map(plain);
    let all: Vec<String> = match printed.left_out() {
        0 => first.into_iter().chain(last).collect(),
        _ => last,
    };
    all[all.len().saturating_sub(most)..].to_vec()
}

/// The first line of a step's text, and how many more there are.
pub(crate) fn head(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let mut all = text.trim().lines();
    let first = line(all.next().unwrap_or_default());
    let more = all.count();
    let first = match first.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &first[..end]),
        None => first,
    };
    match more {
        0 => first,
        1 => format!("{first} (+1 line)"),
        more => format!("{first} (+{more} lines)"),
    }
}

/// Text that is nothing but text, in Markdown: all that may mean something is written as a number.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::new();
    for (index, c) in line(text).chars().enumerate() {
        match c {
            ' ' | ',' | ';' | '\'' | '"' | '/' | '%' => out.push(c),
            // At the start they would begin a list or a heading.
            '-' | '+' | '=' if index > 0 => out.push(c),
            c if c.is_alphanumeric() || !c.is_ascii() => out.push(c),
            c => drop(write!(out, "&#{};", u32::from(c))),
        }
    }
    out
}
