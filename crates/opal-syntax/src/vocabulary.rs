//! What the lexer must know of decorators to tell a reference from text.

/// What may be done with a decorator, as far as the grammar cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathKind {
    /// Gives a value: may appear inside text.
    pub value: bool,
    /// Does something: may appear where a command is.
    pub action: bool,
    /// May follow `<`, `>` or `>>`.
    pub endpoint: bool,
    /// Its block is text, not steps.
    pub text: bool,
    /// A name may follow that belongs to the path, as in `@secret.env.TOKEN`.
    pub named: bool,
}

/// The paths that exist.
pub trait Vocabulary {
    /// What `path` (`file.read`, without the `@`) is, if it is registered.
    fn lookup(&self, path: &str) -> Option<PathKind>;

    /// Whether functions may have dots in their names, as in packages, where these are decorators.
    fn has_dotted_functions(&self) -> bool {
        false
    }
}
