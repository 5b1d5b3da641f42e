//! Who may see which value of a plan while it runs, and what replaces a secret.
//!
//! A planner makes it beside the plan, and hands it on with the values.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::class::{Class, Ground};
use crate::data::Data;
use crate::plan::Key;
use crate::value::Value;

/// How many values that were read on targets a run may have that are hidden only there.
pub const MAX_TARGET_VALUES: usize = 10_000;

#[derive(Clone, Default)]
pub struct Showing {
    pub classes: BTreeMap<Key, Class>,
    /// What a run shows of values that are not public: plain ones in clear, and texts with secrets
    /// in them, each as its placeholder.
    pub visible: BTreeMap<Key, Value>,
    /// Everything that a scrubber must hide.
    pub hidden: BTreeMap<Key, Hidden>,
}

/// A secret.
#[derive(Clone)]
pub struct Hidden {
    pub data: Data,
    /// What replaces it: its placeholder, or the text around the secrets in it and theirs.
    pub label: Box<str>,
    pub class: Class,
    /// The target that it was read on, where it is hidden only there and where it is used.
    pub target: Option<Arc<str>>,
    /// The member of a fleet that it belongs to.
    pub member: Option<Arc<str>>,
}

impl Showing {
    /// The class of a value. One that nobody has judged is a secret.
    #[must_use]
    pub fn class(&self, key: &str) -> Class {
        self.classes.get(key).copied().unwrap_or(Class::Secret(Ground::Source))
    }
}

/// The names and classes; nothing of the values.
impl fmt::Debug for Showing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Showing").field("classes", &self.classes).finish_non_exhaustive()
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hidden").field("class", &self.class).finish_non_exhaustive()
    }
}
