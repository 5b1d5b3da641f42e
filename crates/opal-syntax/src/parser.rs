//! The machinery under the grammar: looking ahead, writing events, recovering.
//!
//! Parsing never fails. A rule that does not find what it needs says so once, passes over the rest
//! of the line, and the next statement is read as if nothing had happened.

mod echo;

use opal_core::{Code, Diagnostic, Span, diagnostic};

use crate::cursor;
use crate::errors::Errors;
use crate::event::{Event, MAX_DATA, Unpacked};
use crate::kind::SyntaxKind::{self, *};
use crate::lexer::Lexer;
use crate::parse::{Parse, Skipped};
use crate::vocabulary::Vocabulary;

/// Blocks and brackets that may be open at once.
pub(crate) const MAX_DEPTH: u32 = 64;

/// Where a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Top,
    Block,
}

pub(crate) struct Parser<'s> {
    pub(crate) lexer: Lexer<'s>,
    /// The rule for one statement. Blocks hold statements, and most statements hold blocks: this is
    /// where the grammar begins again.
    statement: fn(&mut Self, Level),
    errors: Errors,
    events: Vec<Event>,
    /// The next token that no rule has taken.
    next: usize,
    /// One past the token that was put into the events last.
    taken: usize,
    /// How many of the lexer's errors are older than that token.
    errors_before: usize,
    /// Open brackets of the language: line feeds mean nothing inside.
    pub(crate) brackets: u32,
    /// In the head of a construct, where `{` opens its block.
    pub(crate) head: bool,
    /// Nothing may be read beyond the tokens that are there: they are a step's.
    pub(crate) fenced: bool,
    /// A string of this statement has no end, and everything after it was taken for its text.
    pub(crate) broken_string: bool,
    /// Open blocks and brackets, bounded because the grammar recurses.
    pub(crate) depth: u32,
    /// Another statement than an `import` has begun.
    pub(crate) is_past_imports: bool,
    pub(crate) skipped: Skipped,
    /// A text without an end has taken the rest of the file.
    pub(crate) is_text_open: bool,
}

/// A node that has begun and whose kind is not yet known.
#[must_use]
pub(crate) struct Marker(usize);

/// A node that is complete, and may still get a parent.
#[derive(Clone, Copy)]
#[must_use]
pub(crate) struct Completed(usize);

impl<'s> Parser<'s> {
    pub(crate) fn new(
        text: &'s str,
        vocabulary: &'s dyn Vocabulary,
        statement: fn(&mut Self, Level),
    ) -> Self {
        Self {
            lexer: Lexer::new(text, vocabulary),
            statement,
            errors: Errors::default(),
            events: Vec::with_capacity(text.len() / 3 + 16),
            next: 0,
            taken: 0,
            errors_before: 0,
            brackets: 0,
            head: false,
            fenced: false,
            broken_string: false,
            depth: 0,
            is_past_imports: false,
            skipped: Skipped::default(),
            is_text_open: false,
        }
    }

    pub(crate) fn finish(mut self) -> Parse {
        let mut errors = self.lexer.errors.take();
        errors.append(&mut self.errors.take());
        diagnostic::sort(&mut errors);
        errors.dedup();
        echo::silence(self.lexer.text, &mut errors);
        let skipped = self.skipped;
        Parse { tokens: self.lexer.tokens, events: self.events, errors, skipped }
    }

    /// Reads one statement.
    pub(crate) fn statement(&mut self, level: Level) {
        (self.statement)(self, level);
    }

    // Nodes.

    pub(crate) fn start(&mut self) -> Marker {
        self.events.push(Event::DROPPED);
        Marker(self.events.len() - 1)
    }

    pub(crate) fn complete(&mut self, marker: Marker, kind: SyntaxKind) -> Completed {
        let mut start = Event::start(kind);
        if kind == Block {
            // How far it is to the end, so that a reader can pass over the block in one go.
            let distance = (self.events.len() - marker.0) as u32;
            start = start.with_data(distance.min(MAX_DATA));
        }
        self.set_start(marker.0, start);
        self.events.push(Event::FINISH);
        Completed(marker.0)
    }

    pub(crate) fn complete_with(&mut self, marker: Marker, kind: SyntaxKind, data: u32) {
        self.set_start(marker.0, Event::start(kind).with_data(data));
        self.events.push(Event::FINISH);
    }

    fn set_start(&mut self, index: usize, start: Event) {
        let taken = self.events[index].is_taken();
        self.events[index] = if taken { start.taken() } else { start };
    }

    /// Begins a node that will be the parent of `child`.
    pub(crate) fn precede(&mut self, child: Completed) -> Marker {
        debug_assert!(
            matches!(self.events[child.0].unpack(), Unpacked::Start { kind, .. } if cursor::links(kind)),
            "the number next to this kind is not an index"
        );
        let parent = self.events.len();
        let distance = (parent - child.0) as u32;
        if distance > MAX_DATA {
            let span = Span::at(self.lexer.pos() as u32);
            self.error(Code::TooDeep, span, "this expression is too large")
                .help
                .push("split it with `var`".into());
            return self.start();
        }
        self.events[child.0] = self.events[child.0].with_data(distance);
        self.events.push(Event::DROPPED.taken());
        Marker(parent)
    }

    /// Begins and ends nothing after all; only for a marker that nothing is in yet.
    pub(crate) fn abandon(&mut self, marker: Marker) {
        if marker.0 + 1 == self.events.len() {
            self.events.pop();
        }
    }

    // Tokens.

    /// The kind of the next token that means something.
    #[inline]
    pub(crate) fn peek(&mut self) -> SyntaxKind {
        loop {
            while self.next < self.lexer.tokens.len() {
                let kind = self.lexer.tokens.kind(self.next);
                let trivia = kind.is_trivia() && (kind != Newline || self.brackets > 0);
                if !trivia {
                    return kind;
                }
                self.next += 1;
            }
            if self.fenced {
                return Eof;
            }
            self.errors_before = self.lexer.errors.len();
            if self.lexer.language_token() == Eof {
                return Eof;
            }
        }
    }

    /// What follows the last token without a blank. Nothing more is read for it.
    pub(crate) fn adjacent(&mut self) -> SyntaxKind {
        let here = self.next;
        if here >= self.lexer.tokens.len() {
            if self.fenced {
                return Eof;
            }
            self.errors_before = self.lexer.errors.len();
            if self.lexer.language_token() == Eof {
                return Eof;
            }
        }
        self.lexer.tokens.kind(here)
    }

    /// The kind of the next token as it is in the row, trivia included.
    pub(crate) fn raw(&self) -> Option<SyntaxKind> {
        (self.next < self.lexer.tokens.len()).then(|| self.lexer.tokens.kind(self.next))
    }

    pub(crate) fn span(&self) -> Span {
        if self.next < self.lexer.tokens.len() {
            self.lexer.tokens.span(self.next)
        } else {
            Span::at(self.lexer.tokens.end())
        }
    }

    /// The span of the token taken last.
    pub(crate) fn previous(&self) -> Span {
        self.taken.checked_sub(1).map_or(Span::at(0), |index| self.lexer.tokens.span(index))
    }

    pub(crate) fn token_text(&self) -> &'s str {
        self.lexer.slice(self.span())
    }

    /// Passes over a token that means nothing.
    pub(crate) fn pass_trivia(&mut self) {
        self.next += 1;
    }

    /// Whether a line feed is between the last token taken and the next one.
    pub(crate) fn on_new_line(&mut self) -> bool {
        self.peek() == Newline
            || (self.taken..self.next).any(|index| self.lexer.tokens.kind(index) == Newline)
    }

    /// Goes back to the end of the last token taken, before the line feeds after it.
    pub(crate) fn step_back(&mut self) {
        self.next = self.taken;
        self.settle();
    }

    /// Whether nothing follows the next token on its line.
    pub(crate) fn is_last_on_line(&self) -> bool {
        let rest = &self.lexer.text.as_bytes()[self.span().end as usize..];
        let next = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        next.is_none_or(|byte| *byte == b'\n')
    }

    /// Whether `=` follows the next token, which is a name.
    pub(crate) fn is_named_argument(&mut self) -> bool {
        let rest = self.lexer.peek_past(self.span().end as usize, self.brackets > 0);
        rest.first() == Some(&b'=') && rest.get(1) != Some(&b'=')
    }

    /// Takes the next token into the node being written.
    pub(crate) fn bump(&mut self) {
        if self.next < self.lexer.tokens.len() {
            self.events.push(Event::token(self.next));
            self.next += 1;
            self.taken = self.next;
        }
    }

    pub(crate) fn eat(&mut self, kind: SyntaxKind) -> bool {
        let there = self.peek() == kind;
        if there {
            self.bump();
        }
        there
    }

    /// Whether the next token is the word `word`.
    pub(crate) fn at_word(&mut self, word: &str) -> bool {
        self.peek() == Ident && self.token_text() == word
    }

    /// Passes over line feeds, as after an operator.
    pub(crate) fn pass_newlines(&mut self) {
        self.brackets += 1;
        self.peek();
        self.brackets -= 1;
    }

    /// Gives back what was only peeked at, so that another lane can read it.
    pub(crate) fn settle(&mut self) {
        if self.next < self.lexer.tokens.len() {
            self.lexer.rewind(self.next, self.errors_before);
        }
        self.next = self.lexer.tokens.len();
    }

    /// Counts everything the lexer has read by itself as passed.
    pub(crate) fn pass_tokens(&mut self) {
        self.next = self.lexer.tokens.len();
    }

    // Errors.

    pub(crate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.errors.add(code, span, message)
    }

    /// Reports what is expected here, and what was found.
    pub(crate) fn expected(&mut self, what: &str) -> &mut Diagnostic {
        let found = self.peek();
        let span = self.span();
        let text = self.lexer.slice(span);
        let unknown = found == Unknown;
        let found = match found {
            Newline | Eof | StringOpen | RawString => found.describe().to_owned(),
            _ => format!("`{}`", text.chars().take(40).collect::<String>()),
        };
        let span = if text.starts_with('\n') { Span::at(span.start) } else { span };
        let code = if unknown { Code::UnexpectedCharacter } else { Code::Syntax };
        self.error(code, span, format!("expected {what}, found {found}"))
    }

    /// Passes over the rest of the line; see [`Lexer::skip_line`] for where that ends.
    pub(crate) fn recover(&mut self) {
        self.settle();
        self.error_node(Lexer::skip_line);
    }

    /// Passes over the rest of a construct's head.
    pub(crate) fn recover_head(&mut self) {
        self.settle();
        self.error_node(Lexer::skip_head);
    }

    /// Makes what `skip` passes over a node of its own.
    pub(crate) fn error_node(&mut self, skip: impl FnOnce(&mut Lexer<'s>)) {
        self.lexer.blanks();
        self.pass_tokens();
        let marker = self.start();
        skip(&mut self.lexer);
        if self.next == self.lexer.tokens.len() {
            self.abandon(marker);
            return;
        }
        while self.next < self.lexer.tokens.len() {
            self.bump();
        }
        let _ = self.complete(marker, Error);
    }

    /// The first byte after the blanks of this line; nothing is read.
    pub(crate) fn byte_ahead(&mut self) -> u8 {
        self.settle();
        self.lexer.peek_past_blanks().first().copied().unwrap_or(0)
    }

    /// Whether only a comment or nothing is between here and the end of the line.
    pub(crate) fn at_line_end(&mut self) -> bool {
        self.settle();
        self.lexer.is_line_over()
    }
}
