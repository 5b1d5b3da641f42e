//! Passing over text that cannot be read, as little of it as possible.

use super::{Lexer, is_blank};
use crate::kind::SyntaxKind::ErrorText;

/// How far ahead the end of something broken is looked for.
const REACH_BYTES: usize = 4096;
/// How far a step is read once too much was read in vain.
const WINDOW_BYTES: usize = 1024;
/// How far arguments in text are read then: they may appear by the thousand on one line.
const SHORT_WINDOW_BYTES: usize = 256;

impl Lexer<'_> {
    /// Passes over the rest of the line. It stops before a comment, before a `{` that the line does
    /// not close, because a block may begin there, and before the `}` of a block that began on this
    /// line.
    pub(crate) fn skip_line(&mut self) {
        self.emit(ErrorText);
        let in_line_block = self.block.is_some_and(|open| self.on_one_line(open, self.pos));
        self.pos = self.skipped_to(in_line_block, false);
        self.emit(ErrorText);
    }

    /// Passes over the lines below that are indented deeper than the one that holds `open`: they are
    /// what an open bracket was meant to hold.
    pub(super) fn skip_deeper_lines(&mut self, open: usize) {
        let indentation = self.indentation(open);
        let mut end = self.pos;
        while let Some(length) = memchr::memchr(b'\n', &self.src[end..]) {
            let line = end + length + 1;
            let rest_is_blank = self.src[end..line - 1].iter().all(|byte| is_blank(*byte));
            let text = &self.src[line..];
            let column = text.iter().take_while(|byte| is_blank(**byte)).count();
            let empty = matches!(text.get(column), None | Some(b'\n'));
            if !rest_is_blank || empty || column <= indentation {
                break;
            }
            end = self.line_end(line + column);
        }
        self.pos = end;
        self.emit(ErrorText);
    }

    /// Passes over what is left of a construct's head, up to its block or the end of the line.
    pub(crate) fn skip_head(&mut self) {
        self.emit(ErrorText);
        let in_line_block = self.block.is_some_and(|open| self.on_one_line(open, self.pos));
        self.pos = self.skipped_to(in_line_block, true);
        self.emit(ErrorText);
    }

    fn skipped_to(&self, in_line_block: bool, head: bool) -> usize {
        let end = self.line_end(self.pos);
        let (mut at, mut depth, mut open) = (self.pos, 0u32, None);
        while at < end {
            match self.src[at] {
                b'\\' => at += 1,
                quote @ (b'\'' | b'"') => {
                    let close = memchr::memchr(quote, &self.src[at + 1..end]);
                    at += close.map_or(0, |length| length + 1);
                }
                b'#' | b'/' if self.begins_comment(at) => break,
                b'{' => {
                    let before = at == self.pos || matches!(self.src[at - 1], b' ' | b'\t' | b')');
                    let following = self.src.get(at + 1).is_none_or(u8::is_ascii_whitespace);
                    let block = before && following;
                    if head && block {
                        return self.blanks_before(at);
                    }
                    if depth == 0 {
                        open = block.then_some(at);
                    }
                    depth += 1;
                }
                b'}' if depth > 0 => depth -= 1,
                b'}' if in_line_block => break,
                _ => {}
            }
            at += 1;
        }
        let stop = open.filter(|_| depth > 0).unwrap_or(at.min(end));
        self.blanks_before(stop)
    }

    /// Whether a comment to the end of the line begins at `at`, as in shell text.
    fn begins_comment(&self, at: usize) -> bool {
        let rest = &self.src[at..];
        let slashes = rest.starts_with(b"//") && rest.get(2).is_none_or(u8::is_ascii_whitespace);
        (rest[0] == b'#' || slashes) && (at == self.pos || is_blank(self.src[at - 1]))
    }

    /// The end of what precedes `at` and is not a blank.
    fn blanks_before(&self, at: usize) -> usize {
        let blanks = self.src[self.pos..at].iter().rev().take_while(|byte| is_blank(**byte));
        at - blanks.count()
    }

    fn on_one_line(&self, from: usize, to: usize) -> bool {
        from <= to && memchr::memchr(b'\n', &self.src[from..to]).is_none()
    }

    /// Passes over text up to the `}` that closes the block it is in.
    pub(crate) fn skip_braces(&mut self) {
        let mut open = 1u32;
        for at in memchr::memchr2_iter(b'{', b'}', &self.src[self.pos..]) {
            open = if self.src[self.pos + at] == b'{' { open + 1 } else { open - 1 };
            if open == 0 {
                self.pos += at;
                self.emit(ErrorText);
                return;
            }
        }
        self.pos = self.src.len();
        self.emit(ErrorText);
    }

    /// Whether the line that holds `at` is indented deeper than the one that holds `than`.
    pub(crate) fn is_deeper(&self, at: usize, than: usize) -> bool {
        self.indentation(at) > self.indentation(than)
    }

    /// Whether the lines below are indented deeper than the one that holds `head`, up to one that
    /// begins with `}`: a block without its `{`.
    pub(crate) fn is_block_below(&self, head: usize) -> bool {
        let indentation = self.indentation(head);
        let mut line = self.line_end(self.pos);
        let reach = self.src.len().min(line + REACH_BYTES);
        let mut lines = 0;
        while let Some(length) = memchr::memchr(b'\n', &self.src[line..reach]) {
            line += length + 1;
            let text = &self.src[line..];
            let column = text.iter().take_while(|byte| is_blank(**byte)).count();
            match text.get(column) {
                None | Some(b'\n') => {}
                Some(_) if column > indentation => lines += 1,
                Some(byte) => return *byte == b'}' && lines > 0,
            }
        }
        false
    }

    /// How many blanks begin the line that holds `at`; none where the line began too far back.
    pub(crate) fn indentation(&self, at: usize) -> usize {
        let back = at.saturating_sub(REACH_BYTES);
        let start = match memchr::memrchr(b'\n', &self.src[back..at]) {
            Some(feed) => back + feed + 1,
            None => back,
        };
        self.src[start..at].iter().take_while(|byte| is_blank(**byte)).count()
    }

    /// Up to where a step may be read: the end of the text, until too much was read in vain.
    pub(super) fn window(&self) -> usize {
        if self.patience > 0 {
            return self.src.len();
        }
        let from = self.src.len().min(self.pos + WINDOW_BYTES);
        memchr::memchr(b'\n', &self.src[from..]).map_or(self.src.len(), |at| from + at + 1)
    }

    /// The same for arguments in text that may be read up to `end`.
    pub(super) fn short_window(&self, end: usize) -> usize {
        self.text.floor_char_boundary(end.min(self.pos + SHORT_WINDOW_BYTES))
    }

    /// Passes over the run of `}` at the position, as far as it goes on this line.
    pub(crate) fn skip_closers(&mut self) {
        let run = self.src[self.pos..].iter().take_while(|byte| **byte == b'}' || is_blank(**byte));
        self.pos = self.blanks_before(self.pos + run.count());
        self.emit(ErrorText);
    }
}
