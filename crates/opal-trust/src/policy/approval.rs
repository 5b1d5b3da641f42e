//! `[[approval]]`: which contracts need the approval of people, and what else they need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use opal_core::Duration;
use opal_core::view::visible;
use toml_edit::{Array, Item, TableLike};

use super::environment::Environment;
use super::error::{PolicyError, PolicyFault, Setting};
use super::file::Reader;
use super::{Policy, Randomness};
use crate::approvals::Signer;

const KEYS: [&str; 14] = [
    "by",
    "targets",
    "except",
    "needed",
    "presence",
    "makers",
    "not_maker",
    "max_age",
    "once",
    "public_values",
    "limit",
    "tree",
    "environment",
    "direct",
];

/// 24 hours.
const USUAL_AGE: i64 = 24 * 60 * 60 * 1_000_000_000;

/// One rule. A contract that it matches must meet it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The file that it is in.
    pub file: PathBuf,
    pub by: Vec<Person>,
    /// Names of targets; a `*` matches any characters.
    pub targets: Vec<String>,
    pub except: Vec<String>,
    /// How many people must approve.
    pub needed: usize,
    pub presence: bool,
    pub makers: Vec<Person>,
    pub not_maker: bool,
    pub max_age: Duration,
    pub once: bool,
    pub public_values: bool,
    pub refuses_limit: bool,
    pub tree: bool,
    pub environment: Option<Environment>,
    pub refuses_direct: bool,
}

/// A key and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub key: Signer,
    /// As the rule calls them; the key's fingerprint where it does not.
    pub name: String,
}

impl Person {
    /// What the spellings of one name have in common.
    #[must_use]
    pub(crate) fn identity(&self) -> String {
        identity(&self.name)
    }
}

/// A name without what the eye does not see of it: case, blanks, and characters that are not drawn. A name
/// that looks like another one is not another person.
pub(crate) fn identity(name: &str) -> String {
    let seen = name.chars().filter(|c| !c.is_whitespace() && !visible::is_hidden(*c));
    seen.flat_map(char::to_lowercase).collect()
}

impl Rule {
    /// Whether it holds for a target whose steps call these functions. What is excepted stays free,
    /// whatever it calls.
    #[must_use]
    pub fn matches(&self, target: &str, functions: &BTreeSet<&str>) -> bool {
        let fits = |patterns: &[String], name: &str| patterns.iter().any(|it| matches(it, name));
        !fits(&self.except, target)
            && (fits(&self.targets, target)
                || functions.iter().any(|name| fits(&self.targets, name)))
    }

    /// Whose key it is, of those whose approval counts.
    #[must_use]
    pub fn person(&self, key: &Signer) -> Option<&Person> {
        self.by.iter().find(|it| it.key == *key)
    }

    /// Whether people must approve.
    #[must_use]
    pub fn needs_people(&self) -> bool {
        self.needed > 0
    }
}

impl Policy {
    /// The rules that hold for a target whose steps call these functions.
    #[must_use]
    pub fn rules_for(&self, target: &str, functions: &BTreeSet<&str>) -> Vec<&Rule> {
        self.rules.iter().filter(|rule| rule.matches(target, functions)).collect()
    }

    /// Whether a plan with random values may run without a contract.
    #[must_use]
    pub fn allows_random_values(&self) -> bool {
        self.randomness != Randomness::Contract
    }

    /// Whether a target whose steps call these functions may run without a contract.
    #[must_use]
    pub fn allows_direct(&self, target: &str, functions: &BTreeSet<&str>) -> bool {
        let refuses = |rule: &&Rule| rule.refuses_direct;
        !self.refuses_direct && !self.rules_for(target, functions).iter().any(refuses)
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
        self.refuses(item, Setting::Direct)
    }

    /// `"refuse"`, or `"allow"`.
    fn refuses(&self, item: &Item, setting: Setting) -> Result<bool, PolicyError> {
        match item.as_str() {
            Some("refuse") => Ok(true),
            Some("allow") => Ok(false),
            _ => Err(self.wrong(item, setting)),
        }
    }

    /// `tree = "commit"`, or `"any"`.
    pub(super) fn tree(&self, item: &Item) -> Result<bool, PolicyError> {
        match item.as_str() {
            Some("commit") => Ok(true),
            Some("any") => Ok(false),
            _ => Err(self.wrong(item, Setting::Tree)),
        }
    }

    /// Every `[[approval]]` rule.
    pub(super) fn rules(&self, item: &Item) -> Result<Vec<Rule>, PolicyError> {
        let rules = item.as_array_of_tables();
        let rules = rules.ok_or_else(|| self.wrong(item, Setting::Approval))?;
        rules.iter().map(|rule| self.rule(rule)).collect()
    }

    fn rule(&self, table: &dyn TableLike) -> Result<Rule, PolicyError> {
        let mut rule = Rule::new(self.file, Duration::from_nanos(USUAL_AGE));
        let mut needed = None;
        for (name, item) in table.iter() {
            let bool = |setting| self.bool(item, setting);
            match name {
                "by" => rule.by = self.people(item, Setting::By)?,
                "makers" => rule.makers = self.people(item, Setting::Makers)?,
                "targets" => rule.targets = self.names(item, Setting::Targets)?,
                "except" => rule.except = self.names(item, Setting::Except)?,
                "needed" => needed = Some(self.needed(item)?),
                "presence" => rule.presence = bool(Setting::Presence)?,
                "not_maker" => rule.not_maker = bool(Setting::NotMaker)?,
                "max_age" => rule.max_age = self.age(item)?,
                "once" => rule.once = bool(Setting::Once)?,
                "public_values" => rule.public_values = bool(Setting::PublicValues)?,
                "limit" => rule.refuses_limit = self.refuses(item, Setting::Limit)?,
                "tree" => rule.tree = self.tree(item)?,
                "environment" => rule.environment = Some(self.environment(item)?),
                "direct" => rule.refuses_direct = self.refuses_direct(item)?,
                other => return Err(self.unknown(table, other, &KEYS)),
            }
        }
        let at = |name: &str| table.get(name).and_then(Item::span);
        rule.needed = needed.unwrap_or(1);
        // A key that is listed twice has one owner, the first.
        let owners = rule.by.iter().filter_map(|it| rule.person(&it.key));
        let people: BTreeSet<String> = owners.map(Person::identity).collect();
        if rule.needed > 0 && rule.by.is_empty() {
            return Err(self.error(at("by").or_else(|| at("needed")), PolicyFault::NoApprovers));
        }
        if rule.needed > people.len() {
            let why = PolicyFault::TooFewApprovers { needed: rule.needed, people: people.len() };
            return Err(self.error(at("needed"), why));
        }
        if rule.not_maker && rule.makers.is_empty() {
            return Err(self.error(at("not_maker"), PolicyFault::NoMakers));
        }
        Ok(rule)
    }

    fn needed(&self, item: &Item) -> Result<usize, PolicyError> {
        let needed = item.as_integer().and_then(|it| usize::try_from(it).ok());
        needed.filter(|it| *it <= 100).ok_or_else(|| self.wrong(item, Setting::Needed))
    }

    fn names(&self, item: &Item, setting: Setting) -> Result<Vec<String>, PolicyError> {
        let all = |list: &Array| list.iter().map(|it| it.as_str().map(str::to_owned)).collect();
        item.as_array().and_then(all).ok_or_else(|| self.wrong(item, setting))
    }

    fn people(&self, item: &Item, setting: Setting) -> Result<Vec<Person>, PolicyError> {
        let list = item.as_array().ok_or_else(|| self.wrong(item, setting))?;
        let people = list.iter().map(|value| {
            let parsed = value.as_str().and_then(Signer::parse);
            let (key, name) =
                parsed.ok_or_else(|| self.error(value.span(), PolicyFault::InvalidApprover))?;
            let name = name.unwrap_or_else(|| key.fingerprint());
            Ok(Person { key, name })
        });
        people.collect()
    }
}

impl Rule {
    fn new(file: &Path, max_age: Duration) -> Self {
        Self {
            file: file.to_owned(),
            by: Vec::new(),
            targets: vec!["*".to_owned()],
            except: Vec::new(),
            needed: 1,
            presence: false,
            makers: Vec::new(),
            not_maker: false,
            max_age,
            once: true,
            public_values: false,
            refuses_limit: false,
            tree: false,
            environment: None,
            refuses_direct: false,
        }
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

    #[test]
    fn names_that_look_the_same_are_one_person() {
        for name in ["ann", "Ann", " ANN ", "a n n", "ann\u{200b}", "\u{202e}ann", "an\u{ad}n"] {
            assert_eq!(identity(name), "ann", "{name:?}");
        }
        assert_ne!(identity("anna"), identity("ann"));
    }

    #[test]
    fn a_rule_matches_by_target_and_by_what_it_calls() {
        let mut rule = Rule::new(Path::new("policy.toml"), Duration::from_nanos(1));
        rule.targets = vec!["deploy".into(), "db.*".into()];
        rule.except = vec!["test".into()];
        for (target, calls, holds) in [
            ("deploy", &[][..], true),
            ("db.migrate", &[], true),
            ("build", &[], false),
            ("build", &["deploy"], true),
            ("test", &["deploy"], false),
        ] {
            assert_eq!(rule.matches(target, &calls.iter().copied().collect()), holds, "{target}");
        }
    }
}
