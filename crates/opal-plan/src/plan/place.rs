//! Where steps are written: each gets a path of its own.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A block of the plan being written: its path, and how many of each kind it has.
#[derive(Debug)]
pub(crate) struct Place {
    path: String,
    counts: BTreeMap<Cow<'static, str>, u32>,
}

impl Place {
    pub(super) fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), counts: BTreeMap::new() }
    }

    /// The path of the next step of a kind.
    pub(super) fn next(&mut self, kind: impl Into<Cow<'static, str>>) -> Box<str> {
        let kind = kind.into();
        let path = |count: u32| format!("{}.{kind}[{count}]", self.path).into_boxed_str();
        if let Some(count) = self.counts.get_mut(&kind) {
            *count += 1;
            return path(*count);
        }
        let first = path(0);
        self.counts.insert(kind, 0);
        first
    }
}
