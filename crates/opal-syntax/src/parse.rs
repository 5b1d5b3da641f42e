//! What parsing gives.

use opal_core::Diagnostic;

use crate::cursor::Cursor;
use crate::event::Event;
use crate::tokens::Tokens;

/// The flat structure of a source text, and everything wrong with it.
#[derive(Debug)]
pub struct Parse {
    pub(crate) tokens: Tokens,
    pub(crate) events: Vec<Event>,
    /// In the order of their places.
    pub errors: Vec<Diagnostic>,
}

impl Parse {
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
