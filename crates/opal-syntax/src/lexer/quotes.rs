//! What is not made of commands: quotes, `${ … }`, `$(( … ))`, `{ … }` and `\\`.

use super::Lexer;
use super::frames::FrameKind;
use super::shell::Scan;
use crate::kind::SyntaxKind::ShellEscape;

impl Lexer<'_> {
    /// A stretch of `${ … }`, `$(( … ))` or `{ … }`.
    pub(super) fn scan_inner(&mut self) -> Scan {
        let kind = self.top().kind;
        let quoted = self.outer_kind() == Some(FrameKind::Quote) || self.top().heredoc;
        while let Some(&byte) = self.src.get(self.pos) {
            match (byte, kind) {
                (b'\'', FrameKind::Expansion | FrameKind::Brace) if !quoted => self.raw_quote(),
                (b'(', FrameKind::Arithmetic) => return self.opened(FrameKind::Arithmetic),
                (b'{', FrameKind::Brace) => return self.opened(FrameKind::Brace),
                // `${X:-{}}`: what looks like a default of `{}` ends where it looks like it.
                (b'{', FrameKind::Expansion) if self.byte(1) == b'}' && self.byte(2) == b'}' => {
                    self.pos += 2;
                }
                (b'[', FrameKind::OldSum) => return self.opened(FrameKind::OldSum),
                (b')', FrameKind::Arithmetic)
                | (b']', FrameKind::OldSum)
                | (b'}', FrameKind::Expansion | FrameKind::Brace) => {
                    self.pos += 1;
                    self.pop_frame();
                    return Scan::Frame;
                }
                (b'[', FrameKind::Expansion) => {
                    self.top().brackets += 1;
                    self.pos += 1;
                }
                (b']', FrameKind::Expansion) => self.after_index(),
                (b'/', FrameKind::Expansion) => self.after_pattern(),
                (b'"', _) => return self.opened(FrameKind::Quote),
                _ => {
                    if self.expands(byte) {
                        return Scan::Frame;
                    }
                }
            }
        }
        Scan::Limit
    }

    pub(super) fn scan_quote(&mut self) -> Scan {
        let in_backticks = self.outer_kind() == Some(FrameKind::Backtick);
        loop {
            let rest = &self.src[self.pos..];
            let ordinary = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | b'@' | b'$' | b'`');
            self.pos += rest.iter().take_while(ordinary).count();
            match self.src.get(self.pos) {
                None => return Scan::Limit,
                Some(b'"') => {
                    self.pos += 1;
                    self.pop_frame();
                    return Scan::Frame;
                }
                Some(b'`') if in_backticks => self.pos += 1,
                Some(byte) => {
                    if self.expands(*byte) {
                        return Scan::Frame;
                    }
                }
            }
        }
    }

    /// One byte of text that the shell expands; true where a frame opened.
    #[inline]
    pub(super) fn expands(&mut self, byte: u8) -> bool {
        match byte {
            b'\\' => self.backslash(),
            b'@' => self.shell_at(),
            b'$' => return self.dollar(),
            b'`' => {
                self.open(FrameKind::Backtick, 1);
                return true;
            }
            _ => self.pos += 1,
        }
        false
    }

    fn opened(&mut self, kind: FrameKind) -> Scan {
        self.open(kind, 1);
        Scan::Frame
    }

    /// What the top frame is in.
    fn outer_kind(&self) -> Option<FrameKind> {
        self.frames.iter().rev().nth(1).map(|frame| frame.kind)
    }

    /// Whether the backslash at the position joins two lines.
    pub(super) fn continuation(&self) -> bool {
        self.byte(1) == b'\n' || (self.byte(1) == b'\r' && self.byte(2) == b'\n')
    }

    /// `' … '`; the position is on the first quote.
    pub(super) fn raw_quote(&mut self) {
        let open = self.pos;
        match memchr::memchr(b'\'', &self.src[open + 1..]) {
            Some(length) => self.pos += length + 2,
            None => self.give_up(FrameKind::RawQuote, open),
        }
    }

    /// `` ` ``: closes what one has opened, or opens.
    pub(super) fn backtick(&mut self) -> Scan {
        if self.top().kind == FrameKind::Backtick {
            if !self.end_word() {
                self.pos += 1;
                self.pop_frame();
            }
        } else {
            self.begin_word();
            self.open(FrameKind::Backtick, 1);
        }
        Scan::Frame
    }

    /// `\` and what it protects. `\@` is a token of its own: the shell would keep the backslash.
    pub(super) fn backslash(&mut self) {
        if self.byte(1) == b'@' {
            self.flush_text();
            self.advance(2, ShellEscape);
            return;
        }
        self.pos += if self.byte(1) == b'\r' && self.byte(2) == b'\n' { 3 } else { 2 };
        self.pos = self.pos.min(self.src.len());
        while !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
    }
}
