//! Which plan-time reads found something else, and so what a difference comes from.

use std::collections::BTreeMap;

use super::{Drift, Side};
use crate::plan::{Arg, Key, Plan, Read, Step};
use crate::value::Value;

/// A read that found something else than before, or that was made only once.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    pub key: Key,
    pub before: Option<Side>,
    pub after: Option<Side>,
}

/// A key as people know it: without what only says that all may see the value.
pub(super) fn name(key: &str) -> String {
    key.replace("(public=true)", "").replace(", public=true", "").replace("public=true, ", "")
}

/// `, because …` for what did not change by itself.
pub(super) fn because(key: &str, causes: &[Cause]) -> String {
    match causes {
        [] => String::new(),
        // A read is asked for without `public=true`, which its value's key has.
        [only] if *only.key == *name(key) => String::new(),
        [only] => format!(", because `{}` changed", name(&only.key)),
        many => {
            let keys: Vec<String> =
                many.iter().map(|cause| format!("`{}`", name(&cause.key))).collect();
            format!(", because {} changed", keys.join(", "))
        }
    }
}

/// What both plans read.
pub(super) struct Reads<'a> {
    before: BTreeMap<&'a str, &'a Read>,
    after: BTreeMap<&'a str, &'a Read>,
    comparable: bool,
}

impl<'a> Reads<'a> {
    pub(super) fn new(before: &'a Plan, after: &'a Plan, comparable: bool) -> Self {
        let table = |plan: &'a Plan| plan.reads.iter().map(|read| (&*read.key, read)).collect();
        Self { before: table(before), after: table(after), comparable }
    }

    /// Those of the roots that changed, each once, in the order of their keys.
    pub(super) fn changed<'k>(&self, roots: impl Iterator<Item = &'k Key>) -> Vec<Cause> {
        let mut causes: Vec<Cause> = roots.filter_map(|root| self.change_of(root)).collect();
        causes.sort_by(|a, b| a.key.cmp(&b.key));
        causes.dedup_by(|a, b| a.key == b.key);
        causes
    }

    fn change_of(&self, root: &Key) -> Option<Cause> {
        if !self.comparable {
            return None;
        }
        let (before, after) = (self.before.get(&**root), self.after.get(&**root));
        let found = |read: &&Read| read.placeholder.clone();
        if before.map(found) == after.map(found) {
            return None;
        }
        let side = |read: Option<&&Read>| {
            let read = read?;
            Some(Side { placeholder: read.placeholder.clone()?, public: read.public.clone() })
        };
        Some(Cause { key: Key::clone(root), before: side(before), after: side(after) })
    }

    /// The code of a difference: of the reads that changed, or where none is known to have, of all
    /// that could have.
    pub(super) fn code<'k>(&self, causes: &[Cause], roots: impl Iterator<Item = &'k Key>) -> Drift {
        let is_environment = |root: &str| {
            let read = self.before.get(root).or_else(|| self.after.get(root));
            read.is_some_and(|read| Drift::of_missing(&read.decorator) == Drift::EnvChanged)
        };
        let from_environment = match causes {
            [] => roots.into_iter().any(|root| is_environment(root)),
            causes => causes.iter().any(|cause| is_environment(&cause.key)),
        };
        if from_environment { Drift::EnvChanged } else { Drift::ValueChanged }
    }

    /// Every read that changed.
    pub(super) fn all_changed(&self) -> Vec<Cause> {
        let keys: Vec<Key> =
            self.before.keys().chain(self.after.keys()).map(|key| Key::from(*key)).collect();
        self.changed(keys.iter())
    }
}

/// The reads that steered a construct: what it names itself, and what its condition was made of.
pub(super) fn steering(plan: &Plan, step: &Step) -> Vec<Key> {
    if !step.is_construct() {
        return Vec::new();
    }
    let mut roots = Vec::new();
    if let Some(Arg::Const(Value::Array(items))) = step.arg("roots") {
        for item in items {
            if let Value::String(root) = item {
                roots.push(Key::from(&**root));
            }
        }
    }
    for name in ["condition", "subject", "over"] {
        if let Some(Arg::Value(key)) = step.arg(name)
            && let Some(value) = plan.values.get(key)
        {
            roots.extend(value.roots.iter().cloned());
        }
    }
    roots
}
