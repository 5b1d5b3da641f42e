//! Which targets may run without a contract.

use std::collections::BTreeSet;

use toml_edit::{Item, TableLike};

use super::error::{PolicyError, PolicyFault, Setting};
use super::file::Reader;
use super::{Policy, Randomness};

/// The keys of an `[[approval]]` rule that this version has.
const KEYS: [&str; 3] = ["targets", "direct", "needed"];

/// Which direct runs are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Direct {
    pub(crate) refuse_all: bool,
    /// Names of targets; a `*` matches any characters.
    pub refused: BTreeSet<String>,
}

impl Direct {
    pub(super) fn merge(mut self, other: Self) -> Self {
        self.refuse_all |= other.refuse_all;
        self.refused.extend(other.refused);
        self
    }
}

impl Policy {
    /// Whether a plan with random values may run without a contract.
    #[must_use]
    pub fn allows_random_values(&self) -> bool {
        self.randomness != Randomness::Contract
    }

    /// Whether a target may run without a contract.
    #[must_use]
    pub fn allows_direct(&self, target: &str) -> bool {
        let is_refused = |pattern: &String| matches(pattern, target);
        !self.direct.refuse_all && !self.direct.refused.iter().any(is_refused)
    }
}

/// Whether a pattern with `*` fits all of a name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

impl Reader<'_> {
    /// `direct = "refuse"`, or `"allow"`.
    pub(super) fn refuses_direct(&self, item: &Item) -> Result<bool, PolicyError> {
        match item.as_str() {
            Some("refuse") => Ok(true),
            Some("allow") => Ok(false),
            _ => Err(self.wrong(item, Setting::Direct)),
        }
    }

    /// The targets of every `[[approval]]` rule, which in this version demands a contract and nothing
    /// more: a rule that is not understood must not look as if it were met.
    pub(super) fn rules(&self, item: &Item) -> Result<BTreeSet<String>, PolicyError> {
        let rules = item.as_array_of_tables();
        let rules = rules.ok_or_else(|| self.wrong(item, Setting::Approval))?;
        let mut targets = BTreeSet::new();
        for rule in rules {
            targets.extend(self.rule(rule)?);
        }
        Ok(targets)
    }

    fn rule(&self, rule: &dyn TableLike) -> Result<Vec<String>, PolicyError> {
        if let Some((name, _)) = rule.iter().find(|(name, _)| !KEYS.contains(name)) {
            let span = rule.get_key_value(name).and_then(|(key, _)| key.span());
            return Err(self.error(span, PolicyFault::UnsupportedKey(name.into())));
        }
        let refuses = rule.get("direct").map(|item| self.refuses_direct(item)).transpose()?;
        let needed = rule.get("needed");
        if needed.and_then(Item::as_integer) != Some(0) || refuses != Some(true) {
            return Err(self.error(needed.and_then(Item::span), PolicyFault::ApprovalsNeeded));
        }
        let Some(item) = rule.get("targets") else { return Ok(vec!["*".to_owned()]) };
        let names =
            item.as_array().map(|list| list.iter().map(|it| it.as_str().map(str::to_owned)));
        let names = names.and_then(Iterator::collect::<Option<Vec<String>>>);
        names.ok_or_else(|| self.wrong(item, Setting::Targets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_a_whole_name() {
        for (pattern, name, fits) in [
            ("deploy", "deploy", true),
            ("deploy", "deploy2", false),
            ("deploy*", "deploy2", true),
            ("*prod", "to-prod", true),
            ("*prod", "prod-x", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
