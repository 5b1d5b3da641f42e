//! The keys of a mapping: each known, and given once.

use opal_core::parameter::listed;
use opal_core::{Diagnostic, Span};

use crate::problems::Problems;
use crate::{Node, NodeKind};

/// A mapping that is read key by key.
#[derive(Debug)]
pub struct Fields<'n> {
    /// What it is, for messages: "a `copy` step".
    what: String,
    /// Where a missing key is missed.
    pub head: Span,
    /// In the order of the keys, until they are taken.
    entries: Vec<(&'n str, Option<Field<'n>>)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Field<'n> {
    pub key: Span,
    pub value: &'n Node,
}

impl<'n> Fields<'n> {
    /// The keys of `node`; says so where it is not a mapping, or has a key twice.
    pub fn of(node: &'n Node, what: &str, problems: &mut Problems) -> Option<Self> {
        let NodeKind::Map(pairs) = &node.kind else {
            let message = format!("{what} must be a mapping of keys to values");
            problems.error(
                problems.codes.value,
                node.head(),
                message,
                "write `key: value`, one on each line",
            );
            return None;
        };
        let mut entries = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            if problems.refuses_merge(key) {
                continue;
            }
            let NodeKind::Scalar { text, .. } = &key.kind else {
                let help = "write a name";
                problems.error(
                    problems.codes.value,
                    key.head(),
                    "a key must be a single word",
                    help,
                );
                continue;
            };
            entries.push((text.as_str(), Some(Field { key: key.span, value })));
        }
        // Of those that are alike the first comes first, and counts.
        entries.sort_by_key(|(key, _)| *key);
        entries.dedup_by(|(key, again), (first, field)| {
            let is_again = key == first;
            if let (true, Some(again), Some(field)) = (is_again, again, field) {
                repeated(key, again.key, field.key, problems);
            }
            is_again
        });
        Some(Self { what: what.to_owned(), head: node.head(), entries })
    }

    /// From now on it is known what it is.
    pub fn rename(&mut self, what: String) {
        self.what = what;
    }

    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.get_field(key).map(|field| field.value)
    }

    pub fn get_field(&self, key: &str) -> Option<Field<'n>> {
        self.entries[self.find(key)?].1
    }

    /// The keys that nobody has taken.
    pub fn keys(&self) -> impl Iterator<Item = &'n str> {
        self.entries.iter().filter_map(|(key, field)| field.map(|_| *key))
    }

    pub fn take(&mut self, key: &str) -> Option<Field<'n>> {
        let index = self.find(key)?;
        self.entries[index].1.take()
    }

    fn find(&self, key: &str) -> Option<usize> {
        self.entries.binary_search_by_key(&key, |(key, _)| *key).ok()
    }

    /// The value of a key that has two names.
    pub fn take_either(
        &mut self,
        name: &str,
        alias: Option<&str>,
        problems: &mut Problems,
    ) -> Option<Field<'n>> {
        let first = self.take(name);
        let second = alias.and_then(|alias| Some((alias, self.take(alias)?)));
        match (first, second) {
            (Some(first), Some((alias, second))) => {
                let message = format!("`{alias}` is an alias of `{name}`, and both are given");
                let error = Diagnostic::new(problems.codes.repeated_key, second.key, message);
                problems.push(error.also(first.key, "here").help("remove one of them"));
                Some(first)
            }
            (first, second) => first.or(second.map(|(_, field)| field)),
        }
    }

    pub fn missing(&self, names: &[&str], problems: &mut Problems) {
        if !names.is_empty() {
            let message = format!("{} needs {}", self.what, listed(names.iter().copied()));
            problems.error(
                problems.codes.missing_key,
                self.head,
                message,
                format!("add `{}: …`", names[0]),
            );
        }
    }

    /// `names` are the keys of which one is needed.
    pub fn missing_one_of(&self, names: &str, problems: &mut Problems) {
        let message = format!("{} needs one of {names}", self.what);
        problems.error(problems.codes.missing_key, self.head, message, "add exactly one of them");
    }

    /// Complains about every key that is not known, though it is not known what takes the others.
    pub fn typos(mut self, known: &[&str], problems: &mut Problems) {
        for key in known {
            self.take(key);
        }
        self.finish(known.iter().copied(), problems);
    }

    /// Complains about every key that nobody has taken.
    pub fn finish<'k>(self, known: impl Iterator<Item = &'k str> + Clone, problems: &mut Problems) {
        for (key, field) in &self.entries {
            let Some(field) = field else { continue };
            let message = format!("unknown key `{key}` in {}", self.what);
            let error = Diagnostic::new(problems.codes.unknown_key, field.key, message);
            problems.unknown(error, key, known.clone());
        }
    }
}

fn repeated(key: &str, span: Span, first: Span, problems: &mut Problems) {
    let message = format!("`{key}` is given twice");
    let error = Diagnostic::new(problems.codes.repeated_key, span, message);
    problems.push(error.also(first, "first here").help("remove one of them"));
}
