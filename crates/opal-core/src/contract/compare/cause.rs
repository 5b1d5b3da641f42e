//! Which plan-time reads found something else, and so what a difference comes from.

use std::collections::BTreeMap;

use super::{Drift, Side};
use crate::gather::Gather as _;
use crate::plan::{Arg, Key, Plan, Read, Step};
use crate::value::Value;

/// A read that found something else than before, or that was made only once.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    pub key: Key,
    pub before: Option<Side>,
    pub after: Option<Side>,
}

/// A key as people know it: without the argument that only says that all may see the value.
///
/// A contract holds keys and nothing else about how a value was written, so it is taken out of the key,
/// which has one form: arguments after `(` and `, `, texts in quotes. What is in quotes is left alone.
pub(super) fn name(key: &str) -> String {
    const ARGUMENT: &str = "public=true";
    let mut name = String::with_capacity(key.len());
    let (mut rest, mut is_text) = (key, false);
    while let Some(next) = rest.chars().next() {
        let is_argument = !is_text
            && (name.ends_with('(') || name.ends_with(", "))
            && rest.strip_prefix(ARGUMENT).is_some_and(|it| it.starts_with([',', ')']));
        if is_argument {
            rest = &rest[ARGUMENT.len()..];
            if let Some(others) = rest.strip_prefix(", ") {
                rest = others;
            } else if name.ends_with('(') {
                name.pop();
                rest = &rest[1..];
            } else {
                name.truncate(name.len() - ", ".len());
            }
            continue;
        }
        // What is escaped does not end a text.
        let escaped = rest.chars().nth(1).filter(|_| is_text && next == '\\');
        is_text ^= next == '"';
        for c in std::iter::once(next).chain(escaped) {
            name.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    name
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
        let table = |plan: &'a Plan| plan.reads.iter().map(|read| (&*read.key, read)).gathered();
        Self { before: table(before), after: table(after), comparable }
    }

    /// Those of the roots that changed, each once, in the order of their keys.
    pub(super) fn changed<'k>(&self, roots: impl Iterator<Item = &'k Key>) -> Vec<Cause> {
        let causes = roots.filter_map(|root| self.change_of(root));
        causes
            .map(|cause| (Key::clone(&cause.key), cause))
            .gathered::<BTreeMap<_, _>>()
            .into_values()
            .collect()
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

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn only_the_argument_that_makes_a_value_public_is_left_out_of_a_name() {
        for (key, expected) in [
            ("env.V", "env.V"),
            ("env.V(public=true)", "env.V"),
            ("env.V(default=\"x\", public=true)", "env.V(default=\"x\")"),
            ("f(public=true, retries=2)", "f(retries=2)"),
            ("f(a=1, public=true, retries=2)", "f(a=1, retries=2)"),
            ("int(env.N(public=true))", "int(env.N)"),
            ("f(public=true, g=h(public=true))", "f(g=h)"),
            ("f(path=\"a, public=true\")", "f(path=\"a, public=true\")"),
            ("f(path=\"(public=true)\", public=true)", "f(path=\"(public=true)\")"),
            ("f(path=\"\\\", public=true\", public=true)", "f(path=\"\\\", public=true\")"),
            ("f(path=\"ü\\\\\", public=true)", "f(path=\"ü\\\\\")"),
            ("f(not_public=true)", "f(not_public=true)"),
            ("f(public=true", "f(public=true"),
            ("f(public=truest)", "f(public=truest)"),
        ] {
            assert_eq!(name(key), expected, "{key}");
        }
    }
}
