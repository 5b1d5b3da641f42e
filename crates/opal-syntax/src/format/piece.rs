//! What is printed in one go, and what is between.

/// A stretch of text that is printed as it is: a token, a string, a shell step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    /// What is between the piece before and this one.
    pub(super) space: Space,
    pub(super) role: Role,
    /// The comments before this piece end here in [`Pieces::comments`].
    pub(super) comments: usize,
    /// Line feeds directly before it, after its last comment; more than two count as two.
    pub(super) newlines: u8,
}

/// What is between two pieces, where the author broke no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Tight,
    Blank,
    /// The boundary of a statement: a new line, unless its block is on one line.
    Line,
    /// The boundary of a statement that is a function: an empty line.
    Function,
    /// `else`, `catch`, `finally`: on the line of the `}`, unless a comment is between.
    Clause,
    /// Nothing: the blanks are in the pieces, as between the operands of a chain.
    Exact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// The text of a block: its lines are indented as a whole.
    Text,
    Comma,
    Open(Brackets),
    Close,
}

/// What opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brackets {
    pub(super) layout: Layout,
    /// A line breaks between the elements: what is inside is indented.
    pub(super) wide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `{ … }` around statements or arms.
    Block,
    /// `var ( … )`.
    Group,
    /// Brackets of an expression, of arguments, of parameters.
    Expression,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'t> {
    pub(super) text: &'t str,
    /// Line feeds directly before it; more than two count as two.
    pub(super) newlines: u8,
    /// The `#!…` line, which documents no function.
    pub(super) shebang: bool,
}

#[derive(Debug, Default)]
pub(super) struct Pieces<'t> {
    /// The last one is the end of the file: it closes, and has no text.
    pub(super) row: Vec<Piece<'t>>,
    pub(super) comments: Vec<Comment<'t>>,
}
