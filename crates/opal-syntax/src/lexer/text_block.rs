//! The text lane: the text of a block, verbatim, up to the line that closes it.

use super::Lexer;
use super::bytes::is_blank;
use crate::kind::SyntaxKind::{Blank, BlockText};

/// The lines of a text, without the blanks that all of them begin with; lines of nothing but blanks do
/// not count for that, and lose as much of it as they have.
pub fn block_lines(text: &str) -> impl Iterator<Item = &str> {
    let blanks = |line: &str| line.bytes().take_while(|byte| is_blank(*byte)).count();
    let mut shared: Option<&str> = None;
    for line in text.lines().filter(|line| blanks(line) < line.len()) {
        let own = &line[..blanks(line)];
        let known = shared.unwrap_or(own);
        let same = known.bytes().zip(own.bytes()).take_while(|(one, other)| one == other).count();
        shared = Some(&known[..same]);
    }
    text.lines().map(move |line| {
        // All of them are nothing but blanks.
        let Some(shared) = shared else { return "" };
        let same = shared.bytes().zip(line.bytes()).take_while(|(one, other)| one == other).count();
        &line[same..]
    })
}

/// How a text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextEnd {
    /// The brace that closes it is next.
    Closed,
    /// Likewise, but something follows the brace that opens it.
    ClosedWithFirstLine,
    /// No line closes it: it goes to the end of the file.
    Open,
}

impl Lexer<'_> {
    /// The text after the `{` that has just been read. Over several lines it ends before the first
    /// line that starts with a `}` indented by at most `indentation`; on one line before the last `}`
    /// of that line, without the blanks around it.
    pub(crate) fn block_text(&mut self, indentation: usize) -> TextEnd {
        let line_end = self.line_end(self.pos);
        let line = &self.src[self.pos..line_end];
        let is_empty = line.iter().all(|byte| is_blank(*byte));
        if let Some(last) = memchr::memrchr(b'}', line).filter(|_| !is_empty) {
            let end = self.pos + last;
            self.blanks();
            let text = &self.src[self.pos..end];
            let kept = text.iter().rposition(|byte| !is_blank(*byte)).map_or(0, |at| at + 1);
            self.advance(kept, BlockText);
            self.pos = end;
            self.emit(Blank);
            return TextEnd::Closed;
        }
        let (mut at, kind) = if is_empty {
            let below = (self.line_feed_after(self.pos) + 1).min(self.src.len());
            self.pos = below;
            self.emit(Blank);
            (below, TextEnd::Closed)
        } else {
            ((self.line_feed_after(self.pos) + 1).min(self.src.len()), TextEnd::ClosedWithFirstLine)
        };
        while at < self.src.len() {
            let blanks = self.src[at..].iter().take_while(|byte| is_blank(**byte)).count();
            if self.src.get(at + blanks) == Some(&b'}') && blanks <= indentation {
                self.pos = at;
                self.emit(BlockText);
                self.blanks();
                return kind;
            }
            let feed = memchr::memchr(b'\n', &self.src[at..]);
            at = feed.map_or(self.src.len(), |feed| at + feed + 1);
        }
        self.pos = self.src.len();
        self.emit(BlockText);
        TextEnd::Open
    }
}
