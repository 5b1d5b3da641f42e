//! Two lanes of text.
//!
//! | lane | what it reads | where |
//! |---|---|---|
//! | language | one token of an expression or a construct's head | `language`, `strings` |
//! | shell | one step, verbatim, to the end of its logical line | `shell`, `frames`, `brackets`, `inner`, `command`, `heredoc`, `place` |
//!
//! Both share `trivia` (blanks, comments) and `at` (is this `@` a reference?). The lexer does not
//! choose its lane: the grammar does, at each statement, by looking at the first word. It keeps a
//! position and the row of tokens, and hands out no text.

mod at;
mod brackets;
mod command;
mod frames;
mod heredoc;
mod inner;
mod language;
mod place;
mod shell;
mod strings;
mod trivia;
mod unfinished;

use opal_core::{Code, Diagnostic, Span};

use crate::context::Context;
use crate::kind::SyntaxKind;
use crate::tokens::Tokens;
use crate::vocabulary::Vocabulary;
use frames::Frame;
use heredoc::Pending;

pub(crate) use at::At;
pub(crate) use shell::Stop;
pub(crate) use trivia::{is_blank, is_name_byte, is_name_start};

pub(crate) struct Lexer<'s> {
    pub(crate) text: &'s str,
    src: &'s [u8],
    pos: usize,
    pub(crate) tokens: Tokens,
    pub(crate) errors: Vec<Diagnostic>,
    vocabulary: &'s dyn Vocabulary,
    /// Nesting of the arguments inside strings inside arguments: bounded, because it recurses.
    depth: u32,
    /// Open brackets of the step being read.
    frames: Vec<Frame>,
    heredocs: Vec<Pending>,
    /// The places of the references of the step being read, in order.
    pub(crate) contexts: Vec<Context>,
    /// The first `$1` of the step being read.
    positional: Option<Span>,
    /// The step gives itself positional parameters.
    sets_positional: bool,
    /// Bytes that may still be read again after a bracket turned out to have no end.
    rescan: usize,
}

/// How deep arguments may nest inside strings inside arguments.
const MAX_TEXT_DEPTH: u32 = 16;

impl<'s> Lexer<'s> {
    pub(crate) fn new(text: &'s str, vocabulary: &'s dyn Vocabulary) -> Self {
        Self {
            text,
            src: text.as_bytes(),
            pos: 0,
            tokens: Tokens::with_capacity(text.len() / 5 + 16),
            errors: Vec::new(),
            vocabulary,
            depth: 0,
            frames: Vec::new(),
            heredocs: Vec::new(),
            contexts: Vec::new(),
            positional: None,
            sets_positional: false,
            rescan: 4 * text.len(),
        }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.src.len()
    }

    /// The byte `ahead` of the position; 0 past the end, which no valid source holds.
    pub(crate) fn byte(&self, ahead: usize) -> u8 {
        self.src.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// What has not been read yet.
    pub(crate) fn rest(&self) -> &'s str {
        &self.text[self.pos..]
    }

    pub(crate) fn slice(&self, span: Span) -> &'s str {
        &self.text[span.range()]
    }

    /// Makes everything since the last token one token, if there is anything.
    fn emit(&mut self, kind: SyntaxKind) {
        if self.pos as u32 > self.tokens.end() {
            self.tokens.push(kind, self.pos as u32);
        }
    }

    fn advance(&mut self, bytes: usize, kind: SyntaxKind) -> SyntaxKind {
        self.pos += bytes;
        self.emit(kind);
        kind
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.errors.push(Diagnostic::new(code, span, message));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    /// Takes back every token from index `len` on, and what was said about them.
    pub(crate) fn rewind(&mut self, len: usize, errors: usize) {
        self.tokens.truncate(len);
        self.errors.truncate(errors);
        self.pos = self.tokens.end() as usize;
    }
}
