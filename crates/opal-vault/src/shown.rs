//! Text that may be seen.

mod escapes;

use std::borrow::Cow;

pub use escapes::{Escapes, Piece, Sequences};

/// Text that holds no secret: made by the scrubber, or of words of our own.
///
/// Only this crate can make one out of bytes. Everybody else gets it from a
/// [`Vault`](crate::Vault), or has [`words`](Shown::words) to say that are part of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown<'a>(Cow<'a, [u8]>);

impl Shown<'static> {
    /// Words that are part of the program, and so hold no value.
    #[must_use]
    pub const fn words(words: &'static str) -> Self {
        Self(Cow::Borrowed(words.as_bytes()))
    }
}

impl<'a> Shown<'a> {
    /// The caller has made sure that there is no secret in it.
    pub(crate) fn vouch(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(bytes.into())
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same, without a copy.
    #[must_use]
    pub fn borrowed(&self) -> Shown<'_> {
        Shown(Cow::Borrowed(&self.0))
    }

    /// The same, for longer than its bytes stay where they are.
    #[must_use]
    pub fn into_owned(self) -> Shown<'static> {
        Shown(Cow::Owned(self.0.into_owned()))
    }

    /// The same without escape sequences of terminals. The scrubber finds secrets through these.
    #[must_use]
    pub fn without(&self, escapes: &mut Escapes) -> Shown<'static> {
        Shown(Cow::Owned(escapes.strip(&self.0)))
    }

    /// As text, with what is not UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}
