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
        let (length, kind) = match first {
            b'(' => (1, LParen),
            b')' => (1, RParen),
            b'[' => (1, LBracket),
            b']' => (1, RBracket),
            b'{' => (1, LBrace),
            b'}' => (1, RBrace),
            b',' => (1, Comma),
            b':' => (1, Colon),
            b';' => (1, Semicolon),
            b'.' if second == b'.' && self.byte(2) == b'.' => (3, Ellipsis),
            b'.' => either(second, &[(b'.', DotDot), (b'*', DotStar)], Dot),
            b'-' => either(second, &[(b'>', Arrow), (b'-', MinusMinus), (b'=', MinusEq)], Minus),
            b'+' => either(second, &[(b'+', PlusPlus), (b'=', PlusEq)], Plus),
            b'*' => either(second, &[(b'=', StarEq)], Star),
            b'/' => either(second, &[(b'=', SlashEq)], Slash),
            b'%' => either(second, &[(b'=', PercentEq)], Percent),
            b'=' => either(second, &[(b'=', EqEq)], Eq),
            b'!' => either(second, &[(b'=', Ne)], Bang),
            b'<' => either(second, &[(b'=', Le)], Lt),
            b'>' => either(second, &[(b'=', Ge)], Gt),
            b'|' => either(second, &[(b'|', OrOr)], Pipe),
            b'&' if second == b'&' => (2, AndAnd),
            _ => (self.text[self.pos..].chars().next().map_or(1, char::len_utf8), Unknown),
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

/// An operator of two characters where `second` makes one, else the one of the first alone.
#[inline]
fn either(second: u8, longer: &[(u8, SyntaxKind)], alone: SyntaxKind) -> (usize, SyntaxKind) {
    let longer = longer.iter().find(|(byte, _)| *byte == second);
    longer.map_or((1, alone), |(_, kind)| (2, *kind))
}
