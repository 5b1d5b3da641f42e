//! Blanks and comments, and bytes that make names.

use opal_core::{Code, Span};

use super::Lexer;
use crate::kind::SyntaxKind;

pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

pub(crate) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

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
            let byte = self.byte(0);
            if is_blank(byte) || byte == b'\n' {
                self.pos += 1;
                continue;
            }
            self.emit(SyntaxKind::Blank);
            match (byte, self.byte(1)) {
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

    /// A comment to the end of the line; the position is on its first byte.
    pub(super) fn line_comment(&mut self) {
        self.pos = self.line_end(self.pos);
        self.emit(SyntaxKind::Comment);
    }

    /// `/* … */`; the position is on its first byte.
    pub(super) fn block_comment(&mut self) {
        let start = self.pos as u32;
        match memchr::memmem::find(&self.src[self.pos + 2..], b"*/") {
            Some(length) => self.pos += length + 4,
            None => {
                self.pos = self.src.len();
                self.error(
                    Code::UnterminatedComment,
                    Span::new(start, start + 2),
                    "this comment has no end",
                )
                .help
                .push("close it with `*/`".into());
            }
        }
        self.emit(SyntaxKind::Comment);
    }

    /// The end of the line that holds `from`, before its line feed and carriage return.
    pub(super) fn line_end(&self, from: usize) -> usize {
        let end = memchr::memchr(b'\n', &self.src[from..]).map_or(self.src.len(), |at| from + at);
        if end > from && self.src[end - 1] == b'\r' { end - 1 } else { end }
    }

    /// What follows blanks, line feeds and comments; nothing is consumed.
    pub(crate) fn peek_past_trivia(&self) -> &[u8] {
        let mut at = self.pos;
        loop {
            let rest = &self.src[at..];
            match rest {
                [byte, ..] if is_blank(*byte) || *byte == b'\n' => at += 1,
                [b'#', ..] | [b'/', b'/', ..] => at = self.line_end(at),
                [b'/', b'*', ..] => match memchr::memmem::find(&rest[2..], b"*/") {
                    Some(length) => at += length + 4,
                    None => return rest,
                },
                _ => return rest,
            }
        }
    }

    /// What follows the blanks of this line; nothing is consumed.
    pub(crate) fn peek_past_blanks(&self) -> &[u8] {
        let blanks = self.src[self.pos..].iter().take_while(|byte| is_blank(**byte)).count();
        &self.src[self.pos + blanks..]
    }

    /// Passes over the rest of the line, but leaves a `{` that ends it: a block may open there.
    pub(crate) fn skip_line(&mut self) {
        self.emit(SyntaxKind::ErrorText);
        let end = self.line_end(self.pos);
        let line = self.src[self.pos..end].trim_ascii_end();
        let opens = line.last() == Some(&b'{');
        self.pos += if opens { line.len() - 1 } else { line.len() };
        self.emit(SyntaxKind::ErrorText);
    }

    /// The name of a function, which may hold `-` and `.`.
    pub(crate) fn function_name(&mut self) {
        let length = self.src[self.pos..]
            .iter()
            .take_while(|byte| is_name_byte(**byte) || matches!(**byte, b'-' | b'.'))
            .count();
        self.advance(length, SyntaxKind::Ident);
    }

    /// Passes over text up to the `}` that closes the block it stands in.
    pub(crate) fn skip_braces(&mut self) {
        let mut open = 1u32;
        while let Some(byte) = self.src.get(self.pos) {
            match byte {
                b'{' => open += 1,
                b'}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
            self.pos += 1;
        }
        self.emit(SyntaxKind::ErrorText);
    }
}
