//! Offsets as lines and columns, at the same cost anywhere in the text.

use std::ops::Range;

use opal_core::{LineIndex, Position};

/// How far apart, in bytes, characters are counted in advance.
const STEP_BYTES: usize = 256;

/// One source with its index.
///
/// [`LineIndex::position`] counts from the start of the line, so many faults in one very long line
/// would cost their product. Here the characters before every [`STEP_BYTES`]th byte are known.
pub(super) struct Places<'a> {
    pub(super) text: &'a str,
    pub(super) lines: LineIndex,
    chars_before_step: Vec<u32>,
}

impl<'a> Places<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut chars = 0;
        let mut chars_before_step = vec![0];
        for step in text.as_bytes().chunks(STEP_BYTES) {
            chars += count_chars(step);
            chars_before_step.push(chars);
        }
        Self { text, lines: LineIndex::new(text), chars_before_step }
    }

    pub(super) fn position(&self, offset: u32) -> Position {
        let offset = self.clamp(offset);
        let line = self.line(offset);
        let start = self.lines.line_range(self.text, line).start;
        let column = self.chars_before(offset) - self.chars_before(start) + 1;
        Position { line, column }
    }

    /// The line, from 1, that holds `offset`.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.lines.line(offset as u32)
    }

    /// The bytes of a line without its line ending.
    pub(super) fn content(&self, line: u32) -> Range<usize> {
        let range = self.lines.line_range(self.text, line);
        let whole = &self.text[range.clone()];
        let bare = whole.strip_suffix('\n').unwrap_or(whole);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        range.start..range.start + bare.len()
    }

    /// The nearest offset, not after `offset`, that lies in the text and between two characters.
    pub(super) fn clamp(&self, offset: u32) -> usize {
        self.text.floor_char_boundary(offset as usize)
    }

    fn chars_before(&self, offset: usize) -> u32 {
        let step = offset / STEP_BYTES;
        let rest = &self.text.as_bytes()[step * STEP_BYTES..offset];
        self.chars_before_step[step] + count_chars(rest)
    }
}

/// The characters that begin in `bytes`, which may start or end inside one.
fn count_chars(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_agree_with_the_line_index() {
        let text = "one\r\nzwei ü 漢字\n\n".repeat(60) + &"ü".repeat(400);
        let places = Places::new(&text);
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let offset = offset as u32;
            assert_eq!(places.position(offset), places.lines.position(&text, offset));
        }
        assert_eq!(places.position(u32::MAX).line, 181);
    }
}
