//! Three lanes of text.
//!
//! | lane | what it reads | where |
//! |---|---|---|
//! | language | one token of an expression or a construct's head | `language`, `strings` |
//! | shell | one step, verbatim, to the end of its logical line | `shell`, `frames`, `brackets`, `quotes`, `test`, `operators`, `command`, `judging`, `heredoc`, `place`, `beginning`, `dollar` |
//! | text | the text of a block, verbatim | `text_block` |
//!
//! All share `trivia` (blanks, comments), `reference` (is this `@` a reference?) and what happens to text
//! without an end (`unfinished`, `recovery`). The lexer does not choose its lane: the grammar does,
//! at each statement, by its first word. It keeps a position and the row of tokens, and hands out
//! no text.

mod beginning;
mod brackets;
mod bytes;
mod command;
mod dollar;
mod frames;
mod heredoc;
mod index;
mod judging;
mod language;
mod operators;
mod place;
mod quotes;
mod recovery;
mod reference;
mod shell;
mod strings;
mod test;
mod text_block;
mod trivia;
mod unfinished;

use std::cell::Cell;
use std::collections::VecDeque;

use opal_core::{Code, Diagnostic, Span};

use crate::context::Context;
use crate::errors::Errors;
use crate::kind::SyntaxKind;
use crate::tokens::Tokens;
use crate::vocabulary::Vocabulary;
use frames::{Frame, FrameKind};
use heredoc::{LastLines, Pending};
use judging::Judged;
use test::Words;

pub(crate) use bytes::{is_blank, is_name_byte, is_name_start};
pub(crate) use reference::At;
pub(crate) use shell::Stop;
pub(crate) use text_block::TextEnd;
pub use text_block::block_lines;

pub(crate) struct Lexer<'s> {
    pub(crate) text: &'s str,
    /// The bytes of the text, cut short while only a part of it may be read: see [`Lexer::within`].
    src: &'s [u8],
    pos: usize,
    pub(crate) tokens: Tokens,
    pub(crate) errors: Errors,
    vocabulary: &'s dyn Vocabulary,
    /// Nesting of arguments in strings in arguments, and of heredocs: bounded, because it recurses.
    depth: u32,
    /// Where the innermost open block of the language began.
    pub(crate) block: Option<usize>,
    /// The text is one command as a whole: no block is around it that a `}` could close.
    pub(crate) whole: bool,
    /// Open brackets of the step being read.
    frames: Vec<Frame>,
    /// The words of each open `[[`.
    tests: Vec<Words>,
    heredocs: VecDeque<Pending>,
    /// How many of the pending heredocs an earlier part of the line announced.
    carried: usize,
    /// The places of the references of the step being read, in order.
    pub(crate) contexts: Vec<Context>,
    /// The words of commands that have not ended, and what is kept of those that have.
    judged: Judged<'s>,
    /// The first `$1` of the step being read.
    positional: Option<Span>,
    /// The step gives itself positional parameters.
    sets_positional: bool,
    /// What makes it pointless to read the step any further.
    broken: Option<(FrameKind, u32)>,
    /// Openers that are known to have no end, in order; filled when a step ran to the end of the
    /// text in vain, so that the steps below it need not do so too.
    endless: Vec<(u32, FrameKind)>,
    /// Open brackets of the arguments being read.
    parens: Vec<u32>,
    /// From here on no block comment has an end.
    endless_comments: usize,
    /// What lines there are, known once a heredoc had no end.
    last_lines: Option<LastLines<'s>>,
    /// The last question for a line feed, and its answer.
    line_feed: Cell<(usize, usize)>,
    /// The same for the next `\`.
    backslash: Cell<(usize, usize)>,
    /// Bytes that may still be read in vain before steps are read through a window.
    patience: usize,
}

/// What may be read in vain in any text, however short.
const PATIENCE_BYTES: usize = 256 * 1024;

/// How deep arguments may nest inside strings inside arguments, and heredocs inside heredocs.
const MAX_TEXT_DEPTH: u32 = 16;

impl<'s> Lexer<'s> {
    pub(crate) fn has_dotted_functions(&self) -> bool {
        self.vocabulary.has_dotted_functions()
    }

    pub(crate) fn new(text: &'s str, vocabulary: &'s dyn Vocabulary) -> Self {
        Self {
            text,
            src: text.as_bytes(),
            pos: 0,
            tokens: Tokens::with_capacity(text.len() / 3 + 16),
            errors: Errors::default(),
            vocabulary,
            depth: 0,
            block: None,
            whole: false,
            frames: Vec::new(),
            tests: Vec::new(),
            heredocs: VecDeque::new(),
            carried: 0,
            contexts: Vec::new(),
            judged: Judged::default(),
            positional: None,
            sets_positional: false,
            broken: None,
            endless: Vec::new(),
            parens: Vec::new(),
            endless_comments: usize::MAX,
            last_lines: None,
            line_feed: Cell::new((usize::MAX, 0)),
            backslash: Cell::new((usize::MAX, 0)),
            patience: PATIENCE_BYTES + 4 * text.len(),
        }
    }

    /// Does `work` as if the text ended at `end`.
    fn within<T>(&mut self, end: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        let whole = self.src;
        self.src = &whole[..end.min(whole.len())];
        let result = work(self);
        self.src = whole;
        result
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

    pub(crate) fn advance(&mut self, bytes: usize, kind: SyntaxKind) -> SyntaxKind {
        self.pos += bytes;
        self.emit(kind);
        kind
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.errors.add(code, span, message)
    }

    /// Takes back every token from index `len` on, and what was said about them.
    pub(crate) fn rewind(&mut self, len: usize, errors: usize) {
        self.tokens.truncate(len);
        self.errors.truncate(errors);
        self.pos = self.tokens.end() as usize;
    }
}
