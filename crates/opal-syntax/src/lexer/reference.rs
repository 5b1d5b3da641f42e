//! Is this `@` a reference?
//!
//! Text is full of `@`: addresses, npm scopes, `curl -d @file.json`, image digests. A reference is
//! `@var.`, `@env.`, `@let.`, `@cmd.` or `@needs.` with a name, or a path that is registered. Anything else is
//! either plainly text or so close to a reference that silence would be worse than an error; which
//! of the two, the name resolution decides, because only it knows what is close.

use opal_core::{Code, Span};

use super::frames::FrameKind;
use super::{Lexer, is_name_byte, is_name_start};
use crate::kind::SyntaxKind::{self, *};
use crate::vocabulary::PathKind;

/// What an `@` begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Text like any other.
    Literal,
    /// `@name.ext`: text, unless it is a typo of a path that exists.
    Word { end: usize },
    /// A reference whose path ends at `end`; `kind` is none where nothing provides the path.
    Path { end: usize, kind: Option<PathKind> },
}

const NAMED: PathKind =
    PathKind { value: false, action: false, endpoint: false, text: false, named: true };
const VALUE: PathKind = PathKind { value: true, ..NAMED };
const ACTION: PathKind = PathKind { action: true, ..NAMED };

impl Lexer<'_> {
    /// Checks the `@` at `at`. `in_text` is false in expressions, where an `@` is never text.
    pub(crate) fn at(&self, at: usize, in_text: bool) -> At {
        let first = self.name_end(at + 1, false);
        if first == at + 1 {
            return At::Literal;
        }
        let named = self.src.get(first) == Some(&b'.')
            && self.src.get(first + 1).is_some_and(|byte| is_name_start(*byte));
        let after_word = in_text && self.is_after_word(at);
        match &self.src[at + 1..first] {
            b"var" | b"env" | b"let" if named => {
                return At::Path { end: self.name_end(first + 1, false), kind: Some(VALUE) };
            }
            b"cmd" | b"needs" if named && !after_word => {
                return At::Path { end: self.function_end(first + 1), kind: Some(ACTION) };
            }
            _ => {}
        }
        self.registered(at, first, in_text, after_word)
    }

    fn registered(&self, at: usize, first: usize, in_text: bool, after_word: bool) -> At {
        let mut end = first;
        let mut parts = 1;
        let mut found = self.vocabulary.lookup(&self.text[at + 1..end]).map(|kind| (end, kind));
        while self.src.get(end) == Some(&b'.') {
            let next = self.name_end(end + 1, false);
            if next == end + 1 {
                break;
            }
            end = next;
            parts += 1;
            if parts <= MAX_PARTS
                && let Some(kind) = self.vocabulary.lookup(&self.text[at + 1..end])
            {
                found = Some((end, kind));
            }
        }
        if let Some((path_end, kind)) = found {
            let scope = path_end == first && self.src.get(path_end) == Some(&b'/');
            let text = in_text && (scope || (after_word && !kind.value));
            let name_end = self.name_end(path_end + 1, false);
            let named = kind.named && self.src.get(path_end) == Some(&b'.');
            let path_end = if named && name_end > path_end + 1 { name_end } else { path_end };
            return if text { At::Literal } else { At::Path { end: path_end, kind: Some(kind) } };
        }
        if after_word {
            return At::Literal;
        }
        let is_host = parts >= 3 && !(in_text && self.is_after_closing(at));
        if !in_text || is_host || self.src.get(end) == Some(&b'(') {
            return At::Path { end, kind: None };
        }
        if self.src.get(end) == Some(&b'/') { At::Literal } else { At::Word { end } }
    }

    /// Whether a word character precedes `at`: an `@` there is text, as in an address.
    fn is_after_word(&self, at: usize) -> bool {
        match at.checked_sub(1).map(|before| self.src[before]) {
            Some(byte) if byte.is_ascii() => is_name_byte(byte),
            Some(_) => self.text[..at].chars().next_back().is_some_and(char::is_alphanumeric),
            None => false,
        }
    }

    /// `"$USER"@a.example.com`, `${TOKEN}@a.example.com`: whether something ends before `at`, so that
    /// what follows is rather an address. Where text is in quotes, a quote before it is a character
    /// or their beginning.
    fn is_after_closing(&self, at: usize) -> bool {
        let in_quotes = || {
            let is_quoted = |kind| matches!(kind, FrameKind::Quote | FrameKind::Heredoc);
            self.frames.last().is_none_or(|top| is_quoted(top.kind) || top.heredoc)
        };
        match at.checked_sub(1).map(|before| self.src[before]) {
            Some(b'}' | b']' | b')') => true,
            Some(b'"' | b'\'') => self.depth == 0 && !in_quotes(),
            _ => false,
        }
    }

    /// Where the name of a function ends, that of another file with its namespace.
    fn function_end(&self, from: usize) -> usize {
        let first = self.name_end(from, true);
        let is_namespace = self.src.get(first) == Some(&b'.');
        let whole = if is_namespace { self.name_end(first + 1, true) } else { first };
        if whole > first + 1 { whole } else { first }
    }

    /// Where the name that begins at `from` ends. A function's name may hold `-`.
    fn name_end(&self, from: usize, dashes: bool) -> usize {
        if !self.src.get(from).is_some_and(|byte| is_name_start(*byte)) {
            return from;
        }
        let mut end = from + 1;
        while let Some(byte) = self.src.get(end) {
            let dash = dashes
                && *byte == b'-'
                && self.src.get(end + 1).is_some_and(|next| is_name_byte(*next));
            if !is_name_byte(*byte) && !dash {
                break;
            }
            end += 1;
        }
        end
    }

    /// Reads a reference inside text: its path, its arguments, its fields and indices. Where the
    /// arguments have no end, nothing of them is read and the place of their `(` is returned.
    pub(super) fn text_reference(&mut self, path_end: usize) -> Result<(), usize> {
        self.pos = path_end;
        self.emit(RefPath);
        if self.byte(0) == b'(' {
            let empty = self.byte(1) == b')';
            let read = self.arguments()?;
            if !read || empty {
                return Ok(());
            }
        }
        let fields = self.pos;
        while self.text_access() {}
        // `()` ends a path after a field too.
        if self.pos > fields && self.byte(0) == b'(' && self.byte(1) == b')' {
            self.advance(1, LParen);
            self.advance(1, RParen);
        }
        Ok(())
    }

    /// `( … )` in the language lane; false where they are too deep to be read.
    fn arguments(&mut self) -> Result<bool, usize> {
        let open = self.pos;
        if self.depth >= super::MAX_TEXT_DEPTH {
            let span = Span::new(open as u32, open as u32 + 1);
            self.error(Code::TooDeep, span, "references are nested too deeply inside strings")
                .help
                .push("give the inner value a name with `var` first".into());
            return Ok(false);
        }
        // Arguments in the strings of arguments are read once for each depth: not without patience.
        let impatient = self.patience == 0;
        if self.is_endless(FrameKind::Arguments, open) || (impatient && self.depth > 0) {
            return Err(open);
        }
        let (tokens, errors, base) = (self.tokens.len(), self.errors.len(), self.parens.len());
        self.depth += 1;
        // In quotes and heredocs the arguments end with their line: there, a `(` without its `)` is
        // more likely than arguments over several lines.
        let top = self.frames.last();
        let quoted = top.is_some_and(|top| top.kind == FrameKind::Quote || top.heredoc);
        let end = if quoted { self.line_end(open) } else { self.src.len() };
        let end = if impatient { self.short_window(end) } else { end };
        let closed = self.within(end, |lexer| lexer.close_arguments(base));
        self.depth -= 1;
        if !closed {
            self.remember_endless_arguments(open, base);
            self.rewind(tokens, errors);
        }
        self.parens.truncate(base);
        if closed { Ok(true) } else { Err(open) }
    }

    /// Reads up to the bracket that closes the one at the position.
    fn close_arguments(&mut self, base: usize) -> bool {
        loop {
            let at = self.pos as u32;
            match self.language_token() {
                LParen | LBracket | LBrace => self.parens.push(at),
                RParen | RBracket | RBrace => {
                    self.parens.pop();
                    if self.parens.len() == base {
                        return true;
                    }
                }
                Eof => return false,
                _ => {}
            }
        }
    }

    /// One `.name`, `.0`, `.*`, `[0]` or `["k"]`, if one follows.
    fn text_access(&mut self) -> bool {
        match (self.byte(0), self.byte(1)) {
            (b'.', b'*') => {
                self.advance(2, DotStar);
                true
            }
            (b'.', next) if is_name_start(next) => {
                self.advance(1, Dot);
                self.pos = self.name_end(self.pos, false);
                self.emit(Ident);
                true
            }
            (b'.', b'0'..=b'9') => {
                let digits =
                    self.src[self.pos + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
                if is_name_byte(self.byte(1 + digits)) {
                    return false;
                }
                self.advance(1, Dot);
                self.advance(digits, Int);
                true
            }
            (b'[', _) => self.text_index(),
            _ => false,
        }
    }

    fn text_index(&mut self) -> bool {
        let inner = &self.src[self.pos + 1..];
        let length = match inner.first() {
            Some(b'0'..=b'9') => inner.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            Some(quote @ (b'"' | b'\'')) => {
                // Nothing that would make it more than its own text.
                let key = inner[1..].iter().take_while(|byte| {
                    !matches!(**byte, b'"' | b'\'' | b'\\' | b'@' | b'$' | b'`' | b'\r' | b'\n')
                });
                let key = key.count();
                if inner.get(1 + key) != Some(quote) {
                    return false;
                }
                key + 2
            }
            _ => return false,
        };
        if inner.get(length) != Some(&b']') {
            return false;
        }
        self.advance(1, LBracket);
        let kind: SyntaxKind = self.language_token();
        debug_assert!(matches!(kind, Int | StringOpen | RawString));
        self.advance(1, RBracket);
        true
    }
}

/// No registered path has more parts.
const MAX_PARTS: usize = 8;
