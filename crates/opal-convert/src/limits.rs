//! How much a file may contain.

/// As many tasks as a file may have, and as many variables.
pub(crate) const MAX_TASKS: usize = 10_000;
/// Expressions within expressions, blocks within blocks.
pub(crate) const MAX_NESTING: usize = 64;
