//! Blanks and comments, and lines that go on.

use opal_core::{Code, Span};

use super::bytes::{is_blank, is_name_byte};
use super::{Lexer, index};
use crate::kind::SyntaxKind;

impl Lexer<'_> {
    /// A byte order mark and a first line `#!…`.
    pub(crate) fn prologue(&mut self) {
        if self.src.starts_with(b"\xef\xbb\xbf") {
            self.advance(3, SyntaxKind::Bom);
        }
        if self.src[self.pos..].starts_with(b"#!") {
            self.pos = self.line_end(self.pos);
            self.emit(SyntaxKind::Shebang);
        }
    }

    /// Everything between two statements: blanks, line feeds, comments.
    pub(crate) fn between_statements(&mut self) {
        loop {
            let space =
                |byte: &&u8| **byte <= b' ' && matches!(**byte, b' ' | b'\t' | b'\r' | b'\n');
            self.pos += self.src[self.pos..].iter().take_while(space).count();
            self.emit(SyntaxKind::Blank);
            match (self.byte(0), self.byte(1)) {
                (b'#', _) | (b'/', b'/') => self.line_comment(),
                (b'/', b'*') => self.block_comment(),
                _ => return,
            }
        }
    }

    /// Blanks on this line, as one token.
    pub(crate) fn blanks(&mut self) {
        self.emit(SyntaxKind::Blank);
        while is_blank(self.byte(0)) {
            self.pos += 1;
        }
        self.emit(SyntaxKind::Blank);
    }

    /// Blanks and block comments before a statement on this line.
    pub(crate) fn before_statement(&mut self) {
        self.blanks();
        while self.byte(0) == b'/' && self.byte(1) == b'*' && !self.is_line_over() {
            self.block_comment();
            self.blanks();
        }
    }

    /// A comment to the end of the line; the position is on its first byte.
    pub(super) fn line_comment(&mut self) {
        self.pos = self.line_end(self.pos);
        self.emit(SyntaxKind::Comment);
    }

    /// `/* … */`; the position is on its first byte. Without an end it is its line.
    pub(super) fn block_comment(&mut self) {
        let start = self.pos as u32;
        match self.block_comment_end(self.pos) {
            Some(end) => self.pos = end,
            None => {
                self.pos = self.line_end(self.pos);
                self.error(
                    Code::UnterminatedComment,
                    Span::new(start, start + 2),
                    "unterminated comment",
                )
                .help
                .push("close it with `*/`; put a glob such as `/*` in a step or in quotes".into());
            }
        }
        self.emit(SyntaxKind::Comment);
    }

    fn block_comment_end(&mut self, at: usize) -> Option<usize> {
        if at >= self.endless_comments {
            return None;
        }
        let length = memchr::memmem::find(&self.src[at + 2..], b"*/");
        if length.is_none() && self.src.len() == self.text.len() {
            self.endless_comments = at;
        }
        length.map(|length| at + length + 4)
    }

    /// The end of the line that holds `from`, before its line feed and carriage return.
    pub(super) fn line_end(&self, from: usize) -> usize {
        let end = self.line_feed_after(from).min(self.src.len());
        if end > from && self.src[end - 1] == b'\r' { end - 1 } else { end }
    }

    /// Where the next line feed is. A line of a megabyte may ask for each of its strings, so the
    /// last answer is kept.
    pub(super) fn line_feed_after(&self, from: usize) -> usize {
        let (asked, answer) = self.line_feed.get();
        if asked <= from && from <= answer {
            return answer;
        }
        let rest = &self.text.as_bytes()[from..];
        let answer = memchr::memchr(b'\n', rest).map_or(self.text.len(), |at| from + at);
        self.line_feed.set((from, answer));
        answer
    }

    /// The word from `start` to the position as the shell reads it, where lines are continued in it.
    /// Most words have no `\`, so where the next one is is kept. A word that begins before the place
    /// where that was asked has others in it: it is not gone through at each level.
    #[inline]
    pub(super) fn joined(&self, start: usize) -> Option<Vec<u8>> {
        let (asked, answer) = self.backslash.get();
        if asked <= start && self.pos <= answer || self.pos - start > index::LONGEST_INDEX {
            return None;
        }
        if start > answer {
            let rest = &self.text.as_bytes()[start..];
            let length = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            self.backslash.set((start, start + length));
        }
        index::joined(&self.src[start..self.pos])
    }

    /// What follows blanks, line feeds and comments; nothing is consumed.
    pub(crate) fn peek_past_trivia(&mut self) -> &[u8] {
        self.peek_past(self.pos, true)
    }

    /// What follows blanks and comments from `at` on, and line feeds if `lines`.
    pub(crate) fn peek_past(&mut self, mut at: usize, lines: bool) -> &[u8] {
        loop {
            match &self.src[at..] {
                [byte, ..] if is_blank(*byte) || (lines && *byte == b'\n') => at += 1,
                [b'#', ..] | [b'/', b'/', ..] => at = self.line_end(at),
                [b'/', b'*', ..] => {
                    at = self.block_comment_end(at).unwrap_or_else(|| self.line_end(at));
                }
                rest => return rest,
            }
        }
    }

    /// Whether only blanks and comments are between the position and the end of the line.
    pub(crate) fn is_line_over(&mut self) -> bool {
        let mut at = self.pos;
        loop {
            match &self.src[at..] {
                [byte, ..] if is_blank(*byte) => at += 1,
                [] | [b'\n' | b'#', ..] | [b'/', b'/', ..] => return true,
                [b'/', b'*', ..] => match self.block_comment_end(at) {
                    Some(end) if !self.src[at..end].contains(&b'\n') => at = end,
                    _ => return true,
                },
                _ => return false,
            }
        }
    }

    /// What follows the blanks of this line; nothing is consumed.
    pub(crate) fn peek_past_blanks(&self) -> &[u8] {
        let blanks = self.src[self.pos..].iter().take_while(|byte| is_blank(**byte)).count();
        &self.src[self.pos + blanks..]
    }

    /// The name of a function, which may hold `-` and `.`.
    pub(crate) fn function_name(&mut self) {
        let length = self.src[self.pos..]
            .iter()
            .take_while(|byte| is_name_byte(**byte) || matches!(**byte, b'-' | b'.'))
            .count();
        self.advance(length, SyntaxKind::Ident);
    }
}
