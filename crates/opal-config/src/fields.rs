//! The keys of a mapping: each known, and given once.

use opal_core::parameter::listed;
use opal_core::{Code, Diagnostic, Span};

use super::document::{Node, NodeKind};
use super::report::Report;

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
    pub fn of(node: &'n Node, what: &str, report: &mut Report<'_>) -> Option<Self> {
        let NodeKind::Map(pairs) = &node.kind else {
            let message = format!("{what} must be a mapping of keys to values");
            report.error(
                Code::ConfigValue,
                node.head(),
                message,
                "write `key: value`, one on each line",
            );
            return None;
        };
        let mut entries = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            if report.refuses_merge(key) {
                continue;
            }
            let NodeKind::Scalar { text, .. } = &key.kind else {
                let help = "write a name";
                report.error(Code::ConfigValue, key.head(), "a key must be a single word", help);
                continue;
            };
            entries.push((text.as_str(), Some(Field { key: key.span, value })));
        }
        // Of those that are alike the first comes first, and counts.
        entries.sort_by_key(|(key, _)| *key);
        entries.dedup_by(|(key, again), (first, field)| {
            let is_again = key == first;
            if let (true, Some(again), Some(field)) = (is_again, again, field) {
                repeated(key, again.key, field.key, report);
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
    pub(crate) fn take_either(
        &mut self,
        name: &str,
        alias: Option<&str>,
        report: &mut Report<'_>,
    ) -> Option<Field<'n>> {
        let first = self.take(name);
        let second = alias.and_then(|alias| Some((alias, self.take(alias)?)));
        match (first, second) {
            (Some(first), Some((alias, second))) => {
                let message = format!("`{alias}` is an alias of `{name}`, and both are given");
                let error = Diagnostic::new(Code::ConfigRepeatedKey, second.key, message);
                report.push(error.also(first.key, "here").help("remove one of them"));
                Some(first)
            }
            (first, second) => first.or(second.map(|(_, field)| field)),
        }
    }

    pub fn missing(&self, names: &[&str], report: &mut Report<'_>) {
        if !names.is_empty() {
            let message = format!("{} needs {}", self.what, listed(names.iter().copied()));
            report.error(
                Code::ConfigMissingKey,
                self.head,
                message,
                format!("add `{}: …`", names[0]),
            );
        }
    }

    /// `names` are the keys of which one is needed.
    pub(crate) fn missing_one_of(&self, names: &str, report: &mut Report<'_>) {
        let message = format!("{} needs one of {names}", self.what);
        report.error(Code::ConfigMissingKey, self.head, message, "add exactly one of them");
    }

    /// Complains about every key that is not known, though it is not known what takes the others.
    pub fn typos(mut self, known: &[&str], report: &mut Report<'_>) {
        for key in known {
            self.take(key);
        }
        self.finish(known.iter().copied(), report);
    }

    /// Complains about every key that nobody has taken.
    pub fn finish<'k>(self, known: impl Iterator<Item = &'k str> + Clone, report: &mut Report<'_>) {
        for (key, field) in &self.entries {
            let Some(field) = field else { continue };
            let message = format!("unknown key `{key}` in {}", self.what);
            let error = Diagnostic::new(Code::ConfigUnknownKey, field.key, message);
            report.unknown(error, key, known.clone());
        }
    }
}

fn repeated(key: &str, span: Span, first: Span, report: &mut Report<'_>) {
    let message = format!("`{key}` is given twice");
    let error = Diagnostic::new(Code::ConfigRepeatedKey, span, message);
    report.push(error.also(first, "first here").help("remove one of them"));
}
