//! The flat row of tokens: kinds and starts, five bytes a token.

use opal_core::Span;

use crate::kind::SyntaxKind;

/// Tokens without gaps: each ends where the next begins, so their texts are the source.
#[derive(Debug, Default)]
pub struct Tokens {
    kinds: Vec<SyntaxKind>,
    starts: Vec<u32>,
    end: u32,
}

impl Tokens {
    pub(crate) fn with_capacity(tokens: usize) -> Self {
        Self { kinds: Vec::with_capacity(tokens), starts: Vec::with_capacity(tokens), end: 0 }
    }

    /// Adds a token from the end of the last one up to `end`.
    pub(crate) fn push(&mut self, kind: SyntaxKind, end: u32) {
        debug_assert!(end > self.end, "a token holds at least one byte");
        self.kinds.push(kind);
        self.starts.push(self.end);
        self.end = end;
    }

    /// Adds the tokens of a text that follows this one's.
    pub(crate) fn append(&mut self, other: &Self) {
        let base = self.end;
        self.kinds.extend(&other.kinds);
        self.starts.extend(other.starts.iter().map(|start| base + start));
        self.end = base + other.end;
    }

    /// Takes back every token from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        if let Some(start) = self.starts.get(len) {
            self.end = *start;
            self.kinds.truncate(len);
            self.starts.truncate(len);
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Where the last token ends.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.end
    }

    #[must_use]
    pub fn kind(&self, index: usize) -> SyntaxKind {
        self.kinds[index]
    }

    #[must_use]
    pub fn start(&self, index: usize) -> u32 {
        self.starts.get(index).copied().unwrap_or(self.end)
    }

    #[must_use]
    pub fn span(&self, index: usize) -> Span {
        Span::new(self.start(index), self.start(index + 1))
    }
}
