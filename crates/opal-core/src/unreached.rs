//! Targets that could not be reached for a value while a plan was made.

use std::collections::BTreeMap;

use crate::resolver::Trouble;

/// Targets that could not be reached for a value while the plan was made, and why. The plan has no
/// values of theirs, so nothing runs on them.
#[derive(Clone, Debug, Default)]
pub struct Unreached(BTreeMap<Box<str>, BTreeMap<Box<str>, Trouble>>);

static NONE: Unreached = Unreached(BTreeMap::new());

impl Unreached {
    /// All targets were reached, or there are none.
    #[must_use]
    pub fn none() -> &'static Self {
        &NONE
    }

    /// Notes a target of the block at this path.
    pub fn insert(&mut self, path: &str, name: &str, why: Trouble) {
        self.0.entry(path.into()).or_default().insert(name.into(), why);
    }

    /// Why this target of the block at this path could not be reached; none where it could be.
    #[must_use]
    pub fn get(&self, path: &str, name: &str) -> Option<&Trouble> {
        self.0.get(path)?.get(name)
    }
}
