//! Strings of the language: text, escapes and references.

use opal_core::{Code, Span};

use super::frames::FrameKind;
use super::{At, Lexer};
use crate::kind::SyntaxKind::{self, *};

impl Lexer<'_> {
    /// `"…"` on one line, or `"""…"""` over several.
    pub(super) fn string(&mut self) -> SyntaxKind {
        let open = self.pos;
        let triple = self.src[self.pos..].starts_with(b"\"\"\"");
        if triple && memchr::memmem::find(&self.src[open + 3..], b"\"\"\"").is_none() {
            self.advance(3, StringOpen);
            return self.unclosed(open, StringOpen);
        }
        if !triple {
            // What is in a string on one line ends with the line, arguments included.
            let end = self.line_end(open);
            return self.within(end, |lexer| lexer.string_parts(open, false));
        }
        self.string_parts(open, triple)
    }

    fn string_parts(&mut self, open: usize, triple: bool) -> SyntaxKind {
        self.advance(if triple { 3 } else { 1 }, StringOpen);
        loop {
            let ordinary = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | b'@');
            self.pos += self.src[self.pos..].iter().take_while(ordinary).count();
            match self.byte(0) {
                b'"' if !triple || self.src[self.pos..].starts_with(b"\"\"\"") => {
                    self.emit(StringText);
                    self.advance(if triple { 3 } else { 1 }, StringClose);
                    break;
                }
                _ if self.at_end() => return self.unclosed(open, StringOpen),
                b'\\' => self.escape(),
                b'@' => self.string_at(),
                _ => self.pos += 1,
            }
        }
        StringOpen
    }

    fn string_at(&mut self) {
        match self.at(self.pos, true) {
            At::Literal => self.pos += 1,
            At::Word { end } => {
                self.emit(StringText);
                self.pos = end;
                self.emit(AtWord);
            }
            At::Path { end, .. } => {
                self.emit(StringText);
                if let Err(open) = self.text_reference(end) {
                    self.say_unfinished(FrameKind::Arguments, open as u32);
                }
            }
        }
    }

    fn escape(&mut self) {
        self.emit(StringText);
        let start = self.pos;
        let known = match self.byte(1) {
            b'n' | b't' | b'"' | b'\\' | b'@' => {
                self.pos += 2;
                true
            }
            b'u' => self.unicode_escape(),
            b'\n' | 0 => {
                self.pos += 1;
                false
            }
            _ => {
                let next = self.text[self.pos + 1..].chars().next();
                self.pos += 1 + next.map_or(0, char::len_utf8);
                false
            }
        };
        if !known {
            let span = Span::new(start as u32, self.pos as u32);
            let given = self.slice(span).to_owned();
            let error =
                self.error(Code::UnknownEscape, span, format!("unknown escape sequence `{given}`"));
            error
                .help
                .push("expected one of: `\\n`, `\\t`, `\\\"`, `\\\\`, `\\@`, `\\u{…}`".into());
            error.help.push(format!(
                "for the characters themselves write `\\{given}`, or use '…', which has no escapes"
            ));
        }
        self.emit(Escape);
    }

    /// `\u{1F600}`: one to six hexadecimal digits of a character that exists.
    fn unicode_escape(&mut self) -> bool {
        let rest = &self.text[self.pos + 2..self.src.len()];
        let digits = rest.strip_prefix('{').and_then(|rest| {
            let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            rest[length..].starts_with('}').then(|| &rest[..length])
        });
        let valid = digits.filter(|digits| {
            let code = u32::from_str_radix(digits, 16).ok();
            digits.len() <= 6 && code.and_then(char::from_u32).is_some()
        });
        self.pos += valid.map_or(2, |digits| digits.len() + 4);
        valid.is_some()
    }

    /// `'…'` without escapes or references.
    pub(super) fn raw_string(&mut self) -> SyntaxKind {
        let open = self.pos;
        let end = self.line_end(self.pos);
        match memchr::memchr(b'\'', &self.src[open + 1..end]) {
            Some(length) => self.advance(length + 2, RawString),
            None => self.unclosed(open, RawString),
        }
    }

    /// `r"…"`; a backslash keeps the character after it, a quote included.
    pub(super) fn regex(&mut self) -> SyntaxKind {
        let open = self.pos;
        let end = self.line_end(self.pos);
        self.pos += 2;
        while self.pos < end {
            match self.byte(0) {
                b'"' => return self.advance(1, Regex),
                b'\\' => self.pos += 2,
                _ => self.pos += 1,
            }
        }
        self.unclosed(open, Regex)
    }

    /// Says that the quote at `open` has no partner; the rest of its line becomes text.
    fn unclosed(&mut self, open: usize, kind: SyntaxKind) -> SyntaxKind {
        let multiline = self.src[open..].starts_with(b"\"\"\"");
        let end = self.line_end(open);
        let line = self.src[open..end].trim_ascii_end();
        // A `{` that ends the line opens a block more likely than it belongs to the text.
        let end = if line.ends_with(b" {") { open + line.len() - 1 } else { end };
        self.pos = end.max(self.tokens.end() as usize);
        self.emit(if kind == StringOpen { StringText } else { kind });
        let span = Span::new(open as u32, open as u32 + 1);
        let error = self.error(Code::UnterminatedString, span, "this string has no closing quote");
        error.help.push(if multiline {
            "close it with `\"\"\"`".into()
        } else {
            "close it on the same line; for text over several lines, write `\"\"\"…\"\"\"`".into()
        });
        kind
    }
}
