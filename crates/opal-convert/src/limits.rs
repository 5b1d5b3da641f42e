//! How much a file may contain.

/// As many tasks as a file may have, and as many variables.
pub(crate) const MAX_TASKS: usize = 10_000;
/// Expressions within expressions, blocks within blocks.
pub(crate) const MAX_NESTING: usize = 64;
/// The weight of a value that is put together from others.
pub(crate) const MAX_WEIGHT: usize = 64 * 1024;
/// How often one text may paste others.
pub(crate) const MAX_PASTED: usize = 10_000;
