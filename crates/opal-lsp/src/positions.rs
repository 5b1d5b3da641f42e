//! Places in a text as the protocol counts them, and as opal does.

use std::collections::BTreeMap;

use gen_lsp_types::{Position, Range};
use opal_core::Span;

/// What a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// What every client understands.
    #[default]
    Utf16,
}

/// A text with the places where its lines begin.
///
/// A line ends in a line feed, in both bytes of CRLF, or in a carriage return alone: so says the
/// protocol, whatever the language says about the last of them.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    starts: Vec<u32>,
    encoding: Encoding,
    /// UTF-16 units in long lines with more than ASCII in them, counted before every [`STEP`] bytes: a line
    /// may be as long as a text, and have a name at every word.
    wide: BTreeMap<u32, Vec<u32>>,
}

/// Bytes between two places of a long line whose columns are counted once.
const STEP: usize = 1024;

impl Text {
    #[must_use]
    pub(crate) fn new(text: String, encoding: Encoding) -> Self {
        let mut made = Self { text, starts: Vec::new(), encoding, wide: BTreeMap::new() };
        made.measure();
        made
    }

    fn measure(&mut self) {
        self.starts = line_starts(&self.text);
        self.wide.clear();
        if self.encoding == Encoding::Utf8 || self.text.is_ascii() {
            return;
        }
        for line in 0..self.starts.len() as u32 {
            let (start, end) = (self.line_start(line) as usize, self.line_start(line + 1) as usize);
            let text = &self.text[start..end];
            if text.len() > STEP && !text.is_ascii() {
                self.wide.insert(line, units(text));
            }
        }
    }

    /// UTF-16 units of the first bytes of a line; `end` is between characters.
    fn units_before(&self, line: u32, end: usize) -> usize {
        let start = self.line_start(line) as usize;
        let (from, before) = match self.wide.get(&line) {
            Some(counts) => {
                let step = (end / STEP).min(counts.len() - 1);
                (floor(&self.text[start..], step * STEP), counts[step] as usize)
            }
            None => (0, 0),
        };
        before + wide(&self.text[start + from..start + end])
    }

    /// Puts `with` into the place of a range.
    pub(crate) fn splice(&mut self, range: &Range, with: &str) {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        let (start, end) = (start.min(end), start.max(end));
        self.text.replace_range(start as usize..end as usize, with);
        self.measure();
    }

    /// The byte at a position; the nearest one where no such position is.
    #[must_use]
    pub(crate) fn offset(&self, position: Position) -> u32 {
        let Some(start) = self.starts.get(position.line as usize) else {
            return self.text.len() as u32;
        };
        let line = self.line(position.line);
        let column = position.character as usize;
        let within = match self.encoding {
            Encoding::Utf8 => floor(line, column),
            Encoding::Utf16 => {
                let (from, mut units) = match self.wide.get(&position.line) {
                    Some(counts) => {
                        let step = counts.partition_point(|it| *it as usize <= column) - 1;
                        (floor(line, step * STEP), counts[step] as usize)
                    }
                    None => (0, 0),
                };
                let found = line[from..].char_indices().find(|(_, c)| {
                    let is_there = units + c.len_utf16() > column;
                    units += c.len_utf16();
                    is_there
                });
                found.map_or(line.len(), |(at, _)| from + at)
            }
        };
        start + within as u32
    }

    #[must_use]
    pub(crate) fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_of(offset);
        let start = self.starts[line as usize] as usize;
        let mut end = offset as usize;
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let character = match self.encoding {
            Encoding::Utf8 => end - start,
            Encoding::Utf16 => self.units_before(line, end - start),
        };
        Position { line, character: character as u32 }
    }

    #[must_use]
    pub(crate) fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    #[must_use]
    pub(crate) fn span(&self, range: &Range) -> Span {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        Span::new(start.min(end), start.max(end))
    }

    /// The line, from 0, that has a byte.
    #[must_use]
    pub(crate) fn line_of(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32 - 1
    }

    /// Where a line, from 0, begins.
    #[must_use]
    pub(crate) fn line_start(&self, line: u32) -> u32 {
        self.starts.get(line as usize).copied().unwrap_or(self.text.len() as u32)
    }

    /// A line, from 0, without its end.
    #[must_use]
    pub(crate) fn line(&self, line: u32) -> &str {
        let (start, end) = (self.line_start(line), self.line_start(line + 1));
        self.text[start as usize..end as usize].trim_end_matches(['\r', '\n'])
    }

    /// What is written at a place.
    #[must_use]
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

/// The last place between two characters up to a byte.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn wide(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// The UTF-16 units before each [`STEP`] bytes.
fn units(text: &str) -> Vec<u32> {
    let (mut counts, mut from, mut count) = (vec![0], 0, 0);
    for step in 1..=text.len() / STEP {
        let to = floor(text, step * STEP);
        count += wide(&text[from..to]);
        counts.push(count as u32);
        from = to;
    }
    counts
}

fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let is_end = |at: &usize| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes).filter(is_end);
    std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_what_was_agreed() {
        let source = "a\nü𝄞x\n";
        let wide = Text::new(source.to_owned(), Encoding::Utf16);
        assert_eq!(wide.position(8), at(1, 3));
        assert_eq!(wide.offset(at(1, 3)), 8);
        let bytes = Text::new(source.to_owned(), Encoding::Utf8);
        assert_eq!(bytes.position(8), at(1, 6));
        assert_eq!(bytes.offset(at(1, 6)), 8);
    }

    #[test]
    fn a_long_line_has_the_columns_of_a_short_one() {
        let line = "aü𝄞z".repeat(2_000);
        let text = Text::new(format!("x\n{line}\n"), Encoding::Utf16);
        for (index, (byte, _)) in line.char_indices().enumerate() {
            let column = (index / 4 * 5 + [0, 1, 2, 4][index % 4]) as u32;
            assert_eq!(text.position(2 + byte as u32), at(1, column));
            assert_eq!(text.offset(at(1, column)), 2 + byte as u32);
        }
        assert_eq!(text.offset(at(1, 3)), text.offset(at(1, 2)), "not between the halves of one");
        assert_eq!(text.offset(at(1, 999_999)), 2 + line.len() as u32);
    }

    #[test]
    fn every_end_of_a_line_ends_one_and_no_position_is_outside() {
        let text = Text::new("a\r\nb\rc\nd".to_owned(), Encoding::Utf16);
        assert_eq!(text.line(0), "a");
        assert_eq!(text.line(1), "b");
        assert_eq!(text.line(2), "c");
        assert_eq!(text.offset(at(3, 99)), 8);
        assert_eq!(text.offset(at(99, 0)), 8);
        assert_eq!(text.offset(at(0, 99)), 1);
    }

    #[test]
    fn a_splice_is_what_the_client_did() {
        let mut text = Text::new("one\ntwo\n".to_owned(), Encoding::Utf16);
        text.splice(&Range { start: at(0, 1), end: at(1, 1) }, "X\nY");
        assert_eq!(text.text, "oX\nYwo\n");
        assert_eq!(text.line(1), "Ywo");
    }
}
