//! Whether a fresh plan is the plan of a contract, and if not, what differs and why.
//!
//! Structures are compared first: steps that were added, removed or changed, found level by level
//! ([`align`]). Then the values: full digests, in constant time. Each difference gets the drift
//! code of what caused it ([`cause`]); the words never hold a value. What was seen of resources is
//! held against what is seen now ([`resources`]).

mod align;
mod cause;
mod limited;
mod machines;
mod resources;
mod selection;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt;

pub use cause::Cause;
pub use limited::compare_limited;
pub use resources::Earlier;

use self::align::Walk;
use self::cause::Reads;
use super::Contract;
use crate::hash::Digest;
use crate::placeholder::Placeholder;
use crate::plan::{Key, Plan, PlanValue};
use crate::registry::Registry;
use crate::value::Value;

/// Why a contract no longer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drift {
    SourceChanged,
    EnvChanged,
    InfraMissing,
    InfraMutated,
    ValueChanged,
}

impl Drift {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SourceChanged => "source_changed",
            Self::EnvChanged => "env_changed",
            Self::InfraMissing => "infra_missing",
            Self::InfraMutated => "infra_mutated",
            Self::ValueChanged => "value_changed",
        }
    }

    /// The code of a read by this decorator that found nothing at all.
    #[must_use]
    pub fn of_missing(decorator: &str) -> Self {
        if matches!(decorator, "env" | "secret.env") {
            Self::EnvChanged
        } else {
            Self::InfraMissing
        }
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another target.
    Target,
    /// A step that is not in the contract.
    Added,
    /// A step that is only in the contract.
    Removed,
    /// A step that is in both, but not the same.
    Changed,
    Value,
    /// What a step describes is not as it was when the contract was made.
    Resource,
    /// A machine, user or container that steps run on is not the one that it was.
    Machine,
    /// The contract does not have it. Nothing runs there, whatever is asked for.
    NewMachine,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub change: Change,
    pub code: Drift,
    /// Of the step: as it is now, or as it was where it is gone.
    pub path: Option<Box<str>>,
    /// The path that a step which changed had before.
    pub was: Option<Box<str>>,
    /// Of the value.
    pub key: Option<Key>,
    /// The name of the machine.
    pub machine: Option<Box<str>>,
    /// What the contract has; none where it does not have it.
    pub before: Option<Side>,
    pub after: Option<Side>,
    /// The plan-time reads that led to it.
    pub causes: Vec<Cause>,
    /// One line for people, without any value that is not public.
    pub words: String,
}

/// A value on one side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub placeholder: Placeholder,
    /// The value, where it is public.
    pub public: Option<Value>,
}

impl Side {
    fn of(value: &PlanValue) -> Self {
        Self { placeholder: value.placeholder.clone(), public: value.public.clone() }
    }
}

/// In clear where it is public.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.public {
            Some(Value::String(text)) if is_one_word(text) => f.write_str(text),
            Some(value) => value.fmt(f),
            None => self.placeholder.fmt(f),
        }
    }
}

/// Whether a text needs no quotes to be distinguished from the words around it.
fn is_one_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "._-+/:@=~".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}

impl Difference {
    /// The reads that led to it, without the value itself, which the words have already.
    pub fn other_causes(&self) -> impl Iterator<Item = &Cause> {
        let own = self.key.as_deref().map(cause::name);
        self.causes.iter().filter(move |it| own.as_deref() != Some(&cause::name(&it.key)))
    }

    /// Whether it is about what runs, not about which values it runs with.
    #[must_use]
    pub fn is_structural(&self) -> bool {
        !matches!(
            self.change,
            Change::Value | Change::Resource | Change::Machine | Change::NewMachine
        )
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The structure first, in the order of the steps; then values, in the order of their keys;
    /// then resources, in the order of the plan.
    pub differences: Vec<Difference>,
    /// The source has other bytes and still gives the same plan.
    pub source_moved: bool,
    /// Whether the digests of values could be compared: only under one placeholder key.
    pub values_compared: bool,
    /// Which step is which, where the structures differ.
    paths: Option<Paths>,
}

/// From the path of a step as it is now to the path that it had.
type Paths = BTreeMap<Box<str>, Box<str>>;

impl Verdict {
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences.is_empty()
    }

    /// Whether `--force` may run it: every step is in the contract, only values differ.
    #[must_use]
    pub fn may_be_forced(&self) -> bool {
        !self.differences.iter().any(Difference::is_structural)
    }

    /// The path that the step at `path` had before; none where it was not there.
    #[must_use]
    pub fn was<'p>(&'p self, path: &'p str) -> Option<&'p str> {
        match &self.paths {
            Some(paths) => paths.get(path).map(|was| &**was),
            None => Some(path),
        }
    }

    /// The code of the first difference.
    #[must_use]
    pub fn code(&self) -> Option<Drift> {
        self.differences.first().map(|difference| difference.code)
    }
}

/// Compares a contract with a plan that was made now, with the contract's arguments, placeholder
/// key and algorithm.
#[must_use]
pub fn compare(contract: &Contract, fresh: &Plan) -> Verdict {
    let fresh_hash = super::plan_hash(fresh);
    let sides = Sides { before: &contract.plan, after: fresh, then: "in the contract", now: "now" };
    sides.verdict(contract.plan_hash == fresh_hash, true)
}

/// Compares the steps of a contract with those of a quick plan, in which what was left open counts as the value
/// that it will be. Values say nothing: the two have other keys.
#[must_use]
pub fn compare_quick(contract: &Contract, quick: &Plan) -> Verdict {
    let same = contract.plan_hash == super::plan_hash(quick);
    let sides = Sides { before: &contract.plan, after: quick, then: "in the contract", now: "now" };
    sides.verdict(same, false)
}

/// Compares two contracts. Their values can be compared only where both were made with the same
/// placeholder key. Where one is older, arguments that have their default by `registry` do not
/// count.
#[must_use]
pub fn diff(a: &Contract, b: &Contract, registry: &Registry) -> Verdict {
    let comparable = are_comparable(a, b);
    let mut verdict = diff_plans(a, b, comparable, registry);
    verdict.add_machines(machines::between(a, b, comparable));
    verdict
}

fn are_comparable(a: &Contract, b: &Contract) -> bool {
    a.provenance.placeholder_key_id == b.provenance.placeholder_key_id
        && a.plan.algorithm == b.plan.algorithm
}

fn diff_plans(a: &Contract, b: &Contract, comparable: bool, registry: &Registry) -> Verdict {
    let (then, now) = ("in the first", "in the second");
    if a.is_older() == b.is_older() {
        let same = a.plan.algorithm == b.plan.algorithm && a.plan_hash == b.plan_hash;
        return Sides { before: &a.plan, after: &b.plan, then, now }.verdict(same, comparable);
    }
    let [before, after] = [a, b].map(|contract| contract.plan.without_defaults(registry));
    let same = super::plan_hash(&before) == super::plan_hash(&after);
    Sides { before: &before, after: &after, then, now }.verdict(same, comparable)
}

/// Two plans, and how they are called.
struct Sides<'a> {
    before: &'a Plan,
    after: &'a Plan,
    then: &'static str,
    now: &'static str,
}

impl Sides<'_> {
    fn verdict(&self, same_structure: bool, comparable: bool) -> Verdict {
        let reads = Reads::new(self.before, self.after, comparable);
        let source_differs = self.before.source_hash != self.after.source_hash;
        let mut differences = Vec::new();
        let mut paths = None;
        if !same_structure {
            if self.before.target.name != self.after.target.name {
                differences.push(self.other_target());
            }
            let (found, known) = Walk::new(self, &reads, source_differs).outcome();
            differences.extend(found);
            if differences.is_empty() {
                // Another hash is another plan, whatever the walk has found.
                differences.push(Self::other_steps());
            }
            paths = Some(known);
        }
        let source_moved = source_differs && differences.is_empty();
        if comparable {
            // Random values derive from the structure: where that is another, they say nothing.
            let skipped = if same_structure { BTreeSet::new() } else { self.drawn() };
            self.values(&reads, &skipped, &mut differences);
            selection::without_values(&mut differences);
        }
        Verdict { differences, source_moved, values_compared: comparable, paths }
    }

    fn other_target(&self) -> Difference {
        let (before, after) = (&self.before.target.name, &self.after.target.name);
        let (then, now) = (self.then, self.now);
        Self::other(format!("the target is `{before}` {then}, but `{after}` {now}"))
    }

    fn other_steps() -> Difference {
        Self::other("the steps have another hash".to_owned())
    }

    fn other(words: String) -> Difference {
        Difference {
            change: Change::Target,
            code: Drift::SourceChanged,
            path: None,
            was: None,
            key: None,
            machine: None,
            before: None,
            after: None,
            causes: Vec::new(),
            words,
        }
    }

    /// The values that were drawn: what they depend on was never read.
    fn drawn(&self) -> BTreeSet<&Key> {
        let plans = [self.before, self.after];
        let read: BTreeSet<&Key> =
            plans.iter().flat_map(|plan| &plan.reads).map(|read| &read.key).collect();
        let values = plans.iter().flat_map(|plan| &plan.values);
        let drawn = values.filter(|(_, value)| value.roots.iter().any(|root| !read.contains(root)));
        drawn.map(|(key, _)| key).collect()
    }

    fn values(
        &self,
        reads: &Reads<'_>,
        skipped: &BTreeSet<&Key>,
        differences: &mut Vec<Difference>,
    ) {
        let (before, after) = (&self.before.values, &self.after.values);
        for (key, value) in before.iter().filter(|(key, _)| !skipped.contains(key)) {
            match after.get(key) {
                Some(other) if other.placeholder == value.placeholder => {}
                other => {
                    let roots = value.roots.iter().chain(other.iter().flat_map(|v| &v.roots));
                    let causes = reads.changed(roots.clone());
                    let code = reads.code(&causes, roots);
                    let after = other.map(Side::of);
                    let before = Some(Side::of(value));
                    differences.push(self.value(key, code, causes, [before, after]));
                }
            }
        }
        let added = after.iter().filter(|(key, _)| !before.contains_key(*key));
        for (key, value) in added.filter(|(key, _)| !skipped.contains(key)) {
            let causes = reads.changed(value.roots.iter());
            let code = reads.code(&causes, value.roots.iter());
            let after = Some(Side::of(value));
            differences.push(self.value(key, code, causes, [None, after]));
        }
    }

    fn value(
        &self,
        key: &Key,
        code: Drift,
        causes: Vec<Cause>,
        [before, after]: [Option<Side>; 2],
    ) -> Difference {
        let (then, now) = (self.then, self.now);
        let name = cause::name(key);
        let words = match (&before, &after) {
            (Some(before), Some(after)) => {
                let because = cause::because(key, &causes);
                format!("{name}: {before} {then}, {after} {now}{because}")
            }
            (Some(before), None) => format!("{name}: {before} {then}, not used {now}"),
            (None, Some(after)) => format!("{name}: {after} {now}, not used {then}"),
            (None, None) => format!("{name}: not used"),
        };
        let key = Some(Key::clone(key));
        let (change, machine) = (Change::Value, None);
        let (path, was) = (None, None);
        Difference { change, code, path, was, key, machine, before, after, causes, words }
    }
}

/// A step's bytes, short enough to be kept for every step of two plans.
fn fingerprint(parts: &[&[u8]]) -> Digest {
    crate::hash::Algorithm::Blake3.digest(parts)
}
