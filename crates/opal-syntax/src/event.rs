//! The row of events that the grammar writes: four bytes each.
//!
//! ```text
//!   Start(kind)  … what belongs to the node …  Finish
//!   Token(index)                               a token that means something; trivia are not here
//! ```
//!
//! An operator is seen only after its left side was written. Nothing is moved then: the left side's
//! `Start` records how far ahead its parent's `Start` is.
//!
//! ```text
//!   1 + 2
//!
//!   0 Start(Literal) ──3──┐     the parent of this node is three events ahead
//!   1 Token 1             │
//!   2 Finish              │
//!   3 Start(Binary)* ◀────┘     * marked as taken: whoever comes here by itself goes on
//!   4 Token +
//!   5 Start(Literal)
//!   6 Token 2
//!   7 Finish
//!   8 Finish
//! ```
//!
//! [`crate::cursor::Cursor`] follows these links, so that its reader sees
//! `Start(Binary) Start(Literal) …` and never knows.

use crate::kind::SyntaxKind;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event(u32);

/// What an event says, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpacked {
    Start { kind: SyntaxKind, data: u32, taken: bool },
    Token(u32),
    Finish,
    Dropped,
}

/// The most that fits beside a kind: a distance, a token's index or a context.
pub(crate) const MAX_DATA: u32 = (1 << 24) - 1;

const TOKEN: u32 = 0x7f;
const FINISH: u32 = 0x7e;
const DROPPED: u32 = 0x7d;
const TAKEN: u32 = 0x80;

impl Event {
    pub(crate) const FINISH: Self = Self(FINISH);
    pub(crate) const DROPPED: Self = Self(DROPPED);

    pub(crate) fn start(kind: SyntaxKind) -> Self {
        Self(kind as u32)
    }

    pub(crate) fn token(index: usize) -> Self {
        debug_assert!(index as u32 <= MAX_DATA);
        Self(TOKEN | (index as u32) << 8)
    }

    pub(crate) fn with_data(self, data: u32) -> Self {
        debug_assert!(data <= MAX_DATA);
        Self((self.0 & 0xff) | data << 8)
    }

    /// The same after `tokens` other tokens, which have `bytes`.
    pub(crate) fn after(self, tokens: u32, bytes: u32) -> Self {
        match self.unpack() {
            Unpacked::Token(index) => Self::token((index + tokens) as usize),
            Unpacked::Start { kind: SyntaxKind::Heredoc, data, .. } => self.with_data(data + bytes),
            _ => self,
        }
    }

    pub(crate) fn taken(self) -> Self {
        Self(self.0 | TAKEN)
    }

    pub(crate) fn is_taken(self) -> bool {
        self.0 & TAKEN != 0
    }

    pub(crate) fn unpack(self) -> Unpacked {
        let data = self.0 >> 8;
        match self.0 & 0x7f {
            TOKEN => Unpacked::Token(data),
            FINISH => Unpacked::Finish,
            DROPPED => Unpacked::Dropped,
            kind => Unpacked::Start {
                kind: SyntaxKind::ALL[kind as usize],
                data,
                taken: self.0 & TAKEN != 0,
            },
        }
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.unpack().fmt(f)
    }
}
