//! Words and references of a command that has not ended.

use opal_core::script::Kind;

/// A word of a command that has not ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::lexer) struct Kept {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) references: (u32, u32),
    pub(super) kind: Kind,
}

/// A reference of the step being read, beside its context.
#[derive(Clone, Copy, Debug)]
pub(in crate::lexer) struct Spot {
    pub(super) at: u32,
    pub(super) end: u32,
    /// The frame whose command it is a part of.
    pub(super) owner: u32,
    /// The command prints it.
    pub(super) is_printed: bool,
}
