//! Which characters of shell text mean themselves.

/// Follows the quotes and backslashes of a text, over all of its pieces.
#[derive(Clone, Debug, Default)]
pub struct Quotes {
    open: Option<char>,
    is_escaped: bool,
}

/// What a character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A quote or a backslash, and not a part of the text.
    Mark,
    /// Inside of these quotes.
    In(char),
    /// After a backslash outside of quotes.
    Escaped,
    /// The shell may see an operator in it.
    Bare,
}

impl Quotes {
    pub fn see(&mut self, c: char) -> Seen {
        if std::mem::take(&mut self.is_escaped) {
            return self.open.map_or(Seen::Escaped, Seen::In);
        }
        match (self.open, c) {
            (Some('\''), '\\') => Seen::In('\''),
            (_, '\\') => {
                self.is_escaped = true;
                Seen::Mark
            }
            (Some(open), _) if open == c => {
                self.open = None;
                Seen::Mark
            }
            (Some(open), _) => Seen::In(open),
            (None, '\'' | '"' | '`') => {
                self.open = Some(c);
                Seen::Mark
            }
            (None, _) => Seen::Bare,
        }
    }

    /// Whether a quote has not ended yet.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }
}
