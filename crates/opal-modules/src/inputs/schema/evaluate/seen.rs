//! What of a value the schemas have spoken about, for the rules about the rest.

use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct Seen<'v> {
    pub(super) keys: BTreeSet<&'v str>,
    /// So many elements from the first on, and others.
    pub(super) first: usize,
    pub(super) elements: BTreeSet<usize>,
}

impl<'v> Seen<'v> {
    pub(super) fn add(&mut self, mut other: Self) {
        self.keys.append(&mut other.keys);
        self.elements.append(&mut other.elements);
        self.first = self.first.max(other.first);
    }

    pub(super) fn sum(all: Vec<Self>) -> Self {
        let mut sum = Self::default();
        all.into_iter().for_each(|seen| sum.add(seen));
        sum
    }

    pub(super) fn keys(keys: impl Iterator<Item = &'v str>) -> Self {
        let mut seen = Self::default();
        seen.keys.extend(keys);
        seen
    }

    pub(super) fn has_element(&self, index: usize) -> bool {
        index < self.first || self.elements.contains(&index)
    }
}
