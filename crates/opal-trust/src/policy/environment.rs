//! `environment`: the only variables that a contract run starts with.

use std::collections::BTreeMap;

use opal_core::script::interpreted;
use toml_edit::{Item, Value};

use super::error::{PolicyError, PolicyFault, Setting};
use super::file::Reader;

/// Where programs are looked for, where nobody says it.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables by their names: a value that is set, or none where it is passed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, Option<Set>>);

/// A value, and which policy file has it: that of the first file counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Set {
    file: usize,
    value: String,
}

impl Environment {
    /// The variables of a run, of those that there are.
    pub fn of<'e>(
        &self,
        there: impl Iterator<Item = (&'e str, &'e str)>,
    ) -> BTreeMap<String, String> {
        let passed = |name: &str| matches!(self.0.get(name), Some(None));
        let there = there.filter(|(name, _)| passed(name));
        let mut all: BTreeMap<String, String> =
            there.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let set = self.0.iter().filter_map(|(name, set)| Some((name, set.as_ref()?)));
        all.extend(set.map(|(name, set)| (name.clone(), set.value.clone())));
        all
    }

    /// Both at once: a run has what every list has.
    #[must_use]
    pub fn both(one: Option<Self>, two: Option<Self>) -> Option<Self> {
        match (one, two) {
            (Some(one), Some(two)) => Some(one.intersect(&two)),
            (one, two) => one.or(two),
        }
    }

    /// What both lists have. The value is that of the first file that has one; of two in one file, that of
    /// the first list.
    fn intersect(self, other: &Self) -> Self {
        let both = self.0.into_iter().filter_map(|(name, first)| {
            let second = other.0.get(&name)?.clone();
            let is_earlier = |it: &Set| first.as_ref().is_none_or(|first| it.file < first.file);
            let set = second.filter(is_earlier).or_else(|| first.clone());
            Some((name, set))
        });
        Self(both.collect())
    }

    /// The same as it is in the policy file of this number.
    pub(super) fn of_file(&mut self, file: usize) {
        self.0.values_mut().flatten().for_each(|set| set.file = file);
    }

    /// The names, with the values that are set.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|(name, set)| (name.as_str(), set.as_ref().map(|set| &*set.value)))
    }
}

impl Reader<'_> {
    /// `["HOME", "PATH=/usr/bin:/bin"]`.
    pub(super) fn environment(&self, item: &Item) -> Result<Environment, PolicyError> {
        let list = item.as_array().ok_or_else(|| self.wrong(item, Setting::Environment))?;
        let mut found = BTreeMap::new();
        for value in list {
            let (name, set) = self.variable(value)?;
            found.insert(name, set.map(|value| Set { file: 0, value }));
        }
        Ok(Environment(found))
    }

    fn variable(&self, value: &Value) -> Result<(String, Option<String>), PolicyError> {
        let fault = |why| self.error(value.span(), why);
        let invalid = || fault(PolicyFault::InvalidVariable);
        let text = value.as_str().ok_or_else(invalid)?;
        let (name, set) = match text.split_once('=') {
            Some((name, set)) => (name, Some(set.to_owned())),
            None => (text, None),
        };
        let is_name = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
        let is_valid = !name.is_empty()
            && name.bytes().all(is_name)
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && !set.as_ref().is_some_and(|it| it.contains('\0'));
        if !is_valid {
            return Err(invalid());
        }
        let set = match (name, set) {
            // Somebody who may write the sources says nothing about values.
            (_, Some(_)) if self.is_project => return Err(fault(PolicyFault::ValueOfProject)),
            ("PATH", None) if !self.is_project => Some(SYSTEM_PATH.to_owned()),
            (name, None) if interpreted(name).is_some() && !self.is_project => {
                return Err(fault(PolicyFault::VariableNeedsValue(name.to_owned())));
            }
            (_, set) => set,
        };
        Ok((name.to_owned(), set))
    }
}
