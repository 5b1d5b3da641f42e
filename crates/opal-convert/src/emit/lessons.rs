//! What the emitter knows before it writes.

use std::collections::{BTreeMap, BTreeSet};

/// Replaces the `@` of a reference; no input contains it.
pub(super) const AT: char = '\0';

/// Why something cannot be written.
pub(super) type Why = String;

/// A step: the task, and its number in it.
pub(crate) type StepId = (usize, usize);

/// Which `@` of a text are written as `\@`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Escape {
    #[default]
    None,
    /// Those that do not follow a word, as in `user@host`.
    Separate,
    All,
}

impl Escape {
    pub(super) const ALL: [Self; 3] = [Self::None, Self::Separate, Self::All];
}

/// What an earlier attempt has shown.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    pub(crate) omitted: BTreeMap<usize, Why>,
    pub(crate) broken: BTreeMap<String, Why>,
    /// Steps whose values must be pasted.
    pub(crate) pasted: BTreeSet<StepId>,
    /// Steps in which `@` must be escaped.
    pub(crate) escaped: BTreeMap<StepId, Escape>,
    /// Steps that the last attempt has taught something: one lesson at a time.
    pub(crate) taught: BTreeSet<StepId>,
}
