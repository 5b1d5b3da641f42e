//! What parsing gives.

use opal_core::{Diagnostic, Span};

use crate::cursor::Cursor;
use crate::event::Event;
use crate::kind::SyntaxKind;
use crate::tokens::Tokens;

/// The flat structure of a source text, and everything wrong with it.
#[derive(Debug)]
pub struct Parse {
    pub(crate) tokens: Tokens,
    pub(crate) events: Vec<Event>,
    /// In the order of their places.
    pub errors: Vec<Diagnostic>,
    /// What was not read.
    pub skipped: Skipped,
}

/// Blocks of decorators that nothing provides: nobody knows whether there are steps or text in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Skipped {
    pub is_any: bool,
    /// The first one of several lines: another indentation could change it.
    pub lines: Option<Span>,
}

impl Parse {
    /// Puts another text after this one, in `text` and in the structure: each stays a file of its own,
    /// and places in the second are those in the whole text.
    pub fn append(&mut self, text: &mut String, other: Self, other_text: &str) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
            self.tokens.push(SyntaxKind::Newline, text.len() as u32);
        }
        debug_assert_eq!(self.tokens.end() as usize, text.len(), "tokens have no gaps");
        let (tokens, bytes) = (self.tokens.len() as u32, text.len() as u32);
        self.tokens.append(&other.tokens);
        self.events.extend(other.events.iter().map(|event| event.after(tokens, bytes)));
        let place = |span: Span| Span::new(span.start + bytes, span.end + bytes);
        self.errors.extend(other.errors.into_iter().map(|error| error.placed(place)));
        text.push_str(other_text);
    }

    #[must_use]
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::new(self)
    }

    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Whether any of the errors stops everything.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.errors.iter().any(Diagnostic::is_error)
    }
}
