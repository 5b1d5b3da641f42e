//! A few lines of a source, cut and cleaned for a terminal.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use opal_core::view::visible;

use crate::view::diagnostics::places::Places;

/// The longest line, in characters, that is shown whole.
const LONGEST_LINE_CHARS: usize = 200;
/// What is kept of a longer line before and after each place of interest. Two places, the ends of
/// one span, come to the longest line.
const KEPT_BEFORE_CHARS: usize = 40;
const KEPT_AFTER_CHARS: usize = 60;

/// Whether a line is too long to be shown whole. Looks at no more of it than it must.
pub(super) fn is_long(line: &str) -> bool {
    line.len() > LONGEST_LINE_CHARS && line.chars().nth(LONGEST_LINE_CHARS).is_some()
}

/// Consecutive lines and where the marked offsets went in them.
pub(super) struct Excerpt {
    pub(super) text: String,
    placed: BTreeMap<usize, usize>,
}

impl Excerpt {
    /// Copies `lines`. Lines that hold no mark and do not touch one that does stay empty: the
    /// renderer folds them, and only needs them to count.
    pub(super) fn new(places: &Places<'_>, lines: RangeInclusive<u32>, marks: &[usize]) -> Self {
        let mut marks = marks.to_vec();
        marks.sort_unstable();
        let mut excerpt = Self { text: String::new(), placed: BTreeMap::new() };
        for line in lines {
            let content = places.content(line);
            if touches(places, line, &marks) {
                excerpt.push_line(places.text, content, &marks);
            }
            excerpt.text.push('\n');
        }
        excerpt
    }

    /// What to underline for the text between two marked offsets.
    pub(super) fn span(&self, start: usize, end: usize) -> Range<usize> {
        let at = self.at(start);
        // The renderer forgets an empty last line when it measures the line numbers, unless the
        // span takes its line feed.
        let takes_line_feed = start == end && &self.text[at..] == "\n";
        at..self.at(end) + usize::from(takes_line_feed)
    }

    /// Where the marked `offset` stands in the excerpt.
    pub(super) fn at(&self, offset: usize) -> usize {
        self.placed.get(&offset).copied().unwrap_or(self.text.len())
    }

    fn push_line(&mut self, source: &str, content: Range<usize>, marks: &[usize]) {
        let first = marks.partition_point(|mark| *mark < content.start);
        let end = marks.partition_point(|mark| *mark <= content.end);
        let mut marks = marks[first..end].iter().copied().peekable();
        for piece in pieces(source, &content, &marks.clone().collect::<Vec<_>>()) {
            if piece.start > content.start {
                self.text.push('…');
            }
            for (at, c) in source[piece.clone()].char_indices() {
                while let Some(mark) = marks.next_if(|mark| *mark <= piece.start + at) {
                    self.placed.insert(mark, self.text.len());
                }
                self.text.push(visible::source(c));
            }
            while let Some(mark) = marks.next_if(|mark| *mark <= piece.end) {
                self.placed.insert(mark, self.text.len());
            }
            // The next piece begins with the sign of the gap between them.
            if piece.end < content.end && marks.peek().is_none() {
                self.text.push('…');
            }
        }
    }
}

fn touches(places: &Places<'_>, line: u32, marks: &[usize]) -> bool {
    let first = places.content(line.saturating_sub(1).max(1)).start;
    let last = places.content((line + 1).min(places.lines.lines())).end;
    let next = marks.partition_point(|mark| *mark < first);
    marks.get(next).is_some_and(|mark| *mark <= last)
}

/// The parts of a line that are shown.
fn pieces(source: &str, content: &Range<usize>, marks: &[usize]) -> Vec<Range<usize>> {
    let line = &source[content.clone()];
    if !is_long(line) {
        return vec![content.clone()];
    }
    let mut pieces: Vec<Range<usize>> = Vec::new();
    // A long line without a mark is there for its neighbour's sake: its start is enough.
    let marks = if marks.is_empty() { &[content.start] } else { marks };
    for mark in marks {
        let (before, after) = line.split_at(mark - content.start);
        let start = before.char_indices().nth_back(KEPT_BEFORE_CHARS - 1);
        let start = content.start + start.map_or(0, |(at, _)| at);
        let end = after.char_indices().nth(KEPT_AFTER_CHARS);
        let end = end.map_or(content.end, |(at, _)| mark + at);
        match pieces.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => pieces.push(start..end),
        }
    }
    pieces
}
