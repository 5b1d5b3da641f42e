//! The language lane: one token at a time.

use super::{At, Lexer, is_blank, is_name_byte, is_name_start};
use crate::kind::SyntaxKind::{self, *};

impl Lexer<'_> {
    /// Reads one token of the language; a string or a reference is several at once, and then the
    /// kind of the first is returned.
    pub(crate) fn language_token(&mut self) -> SyntaxKind {
        let first = self.byte(0);
        match first {
            _ if self.at_end() => Eof,
            b' ' | b'\t' | b'\r' => {
                while is_blank(self.byte(0)) {
                    self.pos += 1;
                }
                self.emit(Blank);
                Blank
            }
            b'\n' => self.advance(1, Newline),
            b'#' => {
                self.line_comment();
                Comment
            }
            b'/' if self.byte(1) == b'/' => {
                self.line_comment();
                Comment
            }
            b'/' if self.byte(1) == b'*' => {
                self.block_comment();
                Comment
            }
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'\'' => self.raw_string(),
            b'r' if self.byte(1) == b'"' => self.regex(),
            b'@' => self.language_reference(),
            _ if is_name_start(first) => {
                let length = self.src[self.pos..].iter().take_while(|b| is_name_byte(**b)).count();
                self.advance(length, Ident)
            }
            _ => self.punctuation(first),
        }
    }

    fn punctuation(&mut self, first: u8) -> SyntaxKind {
        let second = self.byte(1);
        let (length, kind) = match (first, second) {
            (b'.', b'.') if self.byte(2) == b'.' => (3, Ellipsis),
            (b'.', b'.') => (2, DotDot),
            (b'.', b'*') => (2, DotStar),
            (b'.', _) => (1, Dot),
            (b'-', b'>') => (2, Arrow),
            (b'-', b'-') => (2, MinusMinus),
            (b'-', b'=') => (2, MinusEq),
            (b'-', _) => (1, Minus),
            (b'+', b'+') => (2, PlusPlus),
            (b'+', b'=') => (2, PlusEq),
            (b'+', _) => (1, Plus),
            (b'*', b'=') => (2, StarEq),
            (b'*', _) => (1, Star),
            (b'/', b'=') => (2, SlashEq),
            (b'/', _) => (1, Slash),
            (b'%', b'=') => (2, PercentEq),
            (b'%', _) => (1, Percent),
            (b'=', b'=') => (2, EqEq),
            (b'=', _) => (1, Eq),
            (b'!', b'=') => (2, Ne),
            (b'!', _) => (1, Bang),
            (b'<', b'=') => (2, Le),
            (b'<', _) => (1, Lt),
            (b'>', b'=') => (2, Ge),
            (b'>', _) => (1, Gt),
            (b'&', b'&') => (2, AndAnd),
            (b'|', b'|') => (2, OrOr),
            (b'|', _) => (1, Pipe),
            (b'(', _) => (1, LParen),
            (b')', _) => (1, RParen),
            (b'[', _) => (1, LBracket),
            (b']', _) => (1, RBracket),
            (b'{', _) => (1, LBrace),
            (b'}', _) => (1, RBrace),
            (b',', _) => (1, Comma),
            (b':', _) => (1, Colon),
            (b';', _) => (1, Semicolon),
            _ => {
                let length = self.text[self.pos..].chars().next().map_or(1, char::len_utf8);
                (length, Unknown)
            }
        };
        self.advance(length, kind)
    }

    /// `12`, `1.5`, `1e9`, `1h30m`; whether it can be read is the grammar's question.
    fn number(&mut self) -> SyntaxKind {
        let digits =
            |from: usize| self.src[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = self.pos + digits(self.pos);
        let mut kind = Int;
        if self.src.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            kind = Float;
        }
        if matches!(self.src.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.src.get(end + 1), Some(b'+' | b'-')));
            if digits(end + 1 + sign) > 0 {
                end += 1 + sign + digits(end + 1 + sign);
                kind = Float;
            }
        }
        let tail = self.src[end..].iter().take_while(|b| is_name_byte(**b)).count();
        if tail > 0 {
            end += tail;
            kind = Duration;
        }
        self.pos = end;
        self.emit(kind);
        kind
    }

    /// In an expression every `@` with a path is a reference; what does not exist is said later.
    fn language_reference(&mut self) -> SyntaxKind {
        match self.at(self.pos, false) {
            At::Path { end, .. } | At::Word { end } => {
                self.pos = end;
                self.emit(RefPath);
                RefPath
            }
            At::Literal => self.advance(1, Unknown),
        }
    }
}
