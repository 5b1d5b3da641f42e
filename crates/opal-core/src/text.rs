//! Places in a source text.

use std::ops::Range;

/// The largest source file, in bytes. Offsets fit in 24 bits because of it.
pub const MAX_SOURCE_BYTES: usize = 16 * 1024 * 1024;

/// A half-open range of byte offsets into one source text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        assert!(start <= end, "a span does not run backwards");
        Self { start, end }
    }

    /// A span of no bytes: where something is missing.
    #[must_use]
    pub const fn at(offset: u32) -> Self {
        Self { start: offset, end: offset }
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A place as people count it: the first line and the first character are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// Where the lines of a text begin, to turn offsets into positions.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    #[must_use]
    pub fn new(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        let starts = std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect();
        Self { starts }
    }

    /// The position of `offset`; columns count characters, not bytes.
    #[must_use]
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.line(offset);
        let start = self.starts[line as usize - 1] as usize;
        let end = (offset as usize).min(text.len());
        let column = String::from_utf8_lossy(&text.as_bytes()[start..end]).chars().count();
        Position { line, column: column as u32 + 1 }
    }

    /// The line, from 1, that holds `offset`.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32
    }

    /// The bytes of line `line`, from 1, with its line feed.
    #[must_use]
    pub fn line_range(&self, text: &str, line: u32) -> Range<usize> {
        let start = self.starts[line as usize - 1] as usize;
        let end = self.starts.get(line as usize).map_or(text.len(), |next| *next as usize);
        start..end
    }

    #[must_use]
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_count_from_one() {
        let text = "a\nüx\n";
        let lines = LineIndex::new(text);
        assert_eq!(lines.position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(lines.position(text, 4), Position { line: 2, column: 2 });
        assert_eq!(lines.position(text, 6), Position { line: 3, column: 1 });
        assert_eq!(&text[lines.line_range(text, 2)], "üx\n");
    }
}
