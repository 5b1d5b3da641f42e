//! What is not made of commands: quotes, `${ … }`, `$(( … ))`, `{ … }`, `$` and `\\`.

use opal_core::{Code, Span};

use super::Lexer;
use super::frames::FrameKind;
use super::shell::Scan;
use crate::kind::SyntaxKind::ShellEscape;

impl Lexer<'_> {
    /// A stretch of `${ … }`, `$(( … ))` or `{ … }`.
    pub(super) fn scan_inner(&mut self, limit: usize) -> Scan {
        let kind = self.top().kind;
        let quoted = self.frames.iter().rev().nth(1).is_some_and(|f| f.kind == FrameKind::Quote);
        while self.pos < limit {
            match (self.src[self.pos], kind) {
                (b'\\', _) => self.backslash(),
                (b'\'', FrameKind::Expansion | FrameKind::Brace) if !quoted => {
                    let open = self.pos;
                    match memchr::memchr(b'\'', &self.src[open + 1..]) {
                        Some(length) => self.pos += length + 2,
                        None => return Scan::Quote(open),
                    }
                }
                (b'"', _) => {
                    self.open(FrameKind::Quote, 1);
                    return Scan::Frame;
                }
                (b'`', _) => {
                    self.open(FrameKind::Backtick, 1);
                    return Scan::Frame;
                }
                (b'$', _) => {
                    if self.dollar() {
                        return Scan::Frame;
                    }
                }
                (b'@', _) => self.shell_at(),
                (b'(', FrameKind::Arithmetic) => {
                    self.open(FrameKind::Arithmetic, 1);
                    return Scan::Frame;
                }
                (b'{', FrameKind::Brace) => {
                    self.open(FrameKind::Brace, 1);
                    return Scan::Frame;
                }
                (b')', FrameKind::Arithmetic) | (b'}', FrameKind::Expansion | FrameKind::Brace) => {
                    self.frames.pop();
                    self.pos += 1;
                    return Scan::Frame;
                }
                _ => self.pos += 1,
            }
        }
        Scan::Limit
    }

    pub(super) fn scan_quote(&mut self, limit: usize) -> Scan {
        while self.pos < limit {
            match self.src[self.pos] {
                b'"' => {
                    self.frames.pop();
                    self.pos += 1;
                    return Scan::Frame;
                }
                b'\\' => self.backslash(),
                b'@' => self.shell_at(),
                b'$' => {
                    if self.dollar() {
                        return Scan::Frame;
                    }
                }
                b'`' => {
                    if self
                        .frames
                        .iter()
                        .rev()
                        .nth(1)
                        .is_some_and(|f| f.kind == FrameKind::Backtick)
                    {
                        self.pos += 1;
                        continue;
                    }
                    self.open(FrameKind::Backtick, 1);
                    return Scan::Frame;
                }
                _ => self.pos += 1,
            }
        }
        Scan::Limit
    }

    /// Whether the backslash at the position joins two lines.
    pub(super) fn continuation(&self) -> bool {
        self.byte(1) == b'\n' || (self.byte(1) == b'\r' && self.byte(2) == b'\n')
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

    /// `$` and what it begins; true where a frame opened.
    pub(super) fn dollar(&mut self) -> bool {
        match self.byte(1) {
            b'(' if self.byte(2) == b'(' => {
                self.pos += 1;
                self.open(FrameKind::Arithmetic, 1);
                self.open(FrameKind::Arithmetic, 1);
                true
            }
            b'(' => {
                self.pos += 1;
                self.open(FrameKind::Substitution, 1);
                true
            }
            b'{' => {
                let inside = self.byte(2);
                if matches!(inside, b'1'..=b'9' | b'@' | b'*')
                    && matches!(self.byte(3), b'}' | b':')
                {
                    self.note_positional(3);
                }
                self.pos += 1;
                self.open(FrameKind::Expansion, 1);
                true
            }
            b'\'' if self.top().kind.holds_commands() => {
                self.pos += 2;
                while !self.at_end() && self.byte(0) != b'\'' {
                    if self.byte(0) == b'\\' { self.backslash() } else { self.pos += 1 }
                }
                self.pos = (self.pos + 1).min(self.src.len());
                false
            }
            b'1'..=b'9' | b'@' | b'*' | b'#' => {
                self.note_positional(2);
                self.pos += 2;
                false
            }
            _ => {
                self.pos += 1;
                false
            }
        }
    }

    fn note_positional(&mut self, width: usize) {
        let span = Span::new(self.pos as u32, (self.pos + width) as u32);
        self.positional.get_or_insert(span);
    }

    pub(super) fn say_positional(&mut self) {
        let Some(span) = self.positional.take() else { return };
        if self.sets_positional {
            return;
        }
        let given = self.slice(span).trim_start_matches("${").to_owned();
        let given = if given.starts_with('$') { given } else { format!("${given}") };
        let message = format!("`{given}` is empty here: a step has no positional parameters");
        let error = self.error(Code::PositionalParameter, span, message);
        error.help.push(
            "arguments of a script are `@args` (`@args.0` is the first), \
             those of a function its parameters, as `@var.NAME`"
                .into(),
        );
    }
}
