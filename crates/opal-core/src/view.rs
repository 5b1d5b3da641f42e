//! Plans as people and programs read them: a plan in, bytes out.
//!
//! | what | where |
//! |---|---|
//! | the tree on a terminal | [`Tree`], in `tree` |
//! | its parts in words, for other views | [`Outline`], in `outline` |
//! | JSON, as `docs/schema/plan-1.json` describes it | [`Json`], in `json` |
//! | a step, an argument and shell text in words | `words`, and [`step_text`] for everyone else |
//! | which values a step uses | [`Uses`] |
//! | what a reviewer must not miss | [`marks()`], [`removed_questions`] |
//! | characters that would act on a terminal | [`visible`] |
//!
//! A view is not a contract: it shows six digits of each digest, and nothing reads it back.
//! Deliberately not here: where the bytes go, and whether there is a terminal.

mod ink;
mod json;
mod marks;
mod outline;
mod quote;
mod shell_places;
mod tree;
mod uses;
pub mod visible;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::{Contract, Seed, TargetRecord};
use crate::decorator::Cost;
use crate::hash::{Algorithm, Digest};
use crate::plan::{Handle, Key, Plan, Step};
use crate::registry::Registry;
use crate::resource::{self, Status};
use crate::value::Value;

pub use json::{Json, target_record};
pub use marks::{marks, removed_questions};
pub use outline::{Entry, Outline, Section};
pub use quote::shell_word;
pub use tree::Tree;
pub use uses::Uses;

/// One way to show a plan.
pub trait PlanFormatter {
    /// The same view gives the same bytes.
    fn format(&self, view: &PlanView<'_>) -> Vec<u8>;
}

/// A plan and what else is worth showing with it.
#[derive(Clone, Debug)]
pub struct PlanView<'a> {
    pub plan: &'a Plan,
    pub plan_hash: Digest,
    pub facts: Facts,
    /// Reads that a quick plan leaves open: what came of them has a number in a resolved tree.
    pub expensive: BTreeSet<Key>,
    /// Which thing a resource is about, by the paths of the steps.
    keys: BTreeMap<&'a str, String>,
    /// Whole sentences for the reader, without a full stop.
    pub notes: Vec<String>,
    /// Whether a tree shows arguments that have their default, too. JSON always has all of them.
    pub with_defaults: bool,
    /// Whether a tree shows every line of every text and every target: for somebody who decides by it. Pages
    /// and JSON always have all of them.
    pub is_whole: bool,
    /// Whether a tree shows the path of each step. JSON always has it.
    pub with_paths: bool,
    /// The file and the line of each step, by its path: `commands.opl:12`. A tree and JSON show those that
    /// are known.
    pub places: BTreeMap<&'a str, String>,
    /// The timestamp of JSON where the plan is of this moment, in seconds of Unix time.
    pub now: Option<i64>,
    registry: Option<&'a Registry>,
}

/// Where a plan comes from and what holds for it. What is not known is left out of every view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// When it was made, in seconds of Unix time.
    pub created: Option<i64>,
    pub compiler_version: Option<String>,
    pub source_commit: Option<String>,
    /// Whether the source has changes that are not in that commit.
    pub source_modified: bool,
    pub source_path: Option<String>,
    /// Every source file, with its digest.
    pub sources: Vec<(String, Digest)>,
    /// Options that change a run and are not in the hash, as they are typed.
    pub options: Vec<String>,
    /// How the random values of the contract are made; nothing of the seed itself.
    pub seed: Option<Seed>,
    /// `user@host`.
    pub generated_by: Option<String>,
    pub plugins: Vec<PluginFact>,
    /// What the placeholder key belongs to.
    pub project: Option<String>,
    /// The placeholder key is gone with this process, so its placeholders compare with no others.
    pub key_of_process: bool,
    /// When it stops being a contract, in seconds of Unix time.
    pub expires: Option<i64>,
    /// It may run a single time.
    pub once: bool,
    /// The keys that signed it.
    pub signed_by: Vec<String>,
    /// What its resources were when it was made, by the paths of their steps.
    pub resources: Vec<(Box<str>, Status)>,
    /// Who answered on each of its targets when it was made.
    pub targets: Vec<TargetRecord>,
}

/// A plugin whose decorators a plan uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFact {
    pub name: String,
    pub version: String,
    pub source: Option<String>,
    pub verification: Option<String>,
    pub signed_by: Option<String>,
    /// What runs its code: `opal`, `wasm`, `native`.
    pub engine: Option<String>,
}

impl<'a> PlanView<'a> {
    #[must_use]
    pub fn new(plan: &'a Plan, plan_hash: Digest) -> Self {
        Self {
            plan,
            plan_hash,
            facts: Facts::default(),
            expensive: BTreeSet::new(),
            keys: BTreeMap::new(),
            notes: Vec::new(),
            with_defaults: false,
            is_whole: false,
            with_paths: false,
            places: BTreeMap::new(),
            now: None,
            registry: None,
        }
    }

    /// With what `registry` knows: the numbers of a resolved tree on what it calls expensive, which
    /// thing each resource is about, and what the defaults of arguments are.
    #[must_use]
    pub fn with_registry(mut self, registry: &'a Registry) -> Self {
        self.registry = Some(registry);
        let is_expensive = |decorator: &str| {
            let path = decorator.trim_start_matches('@');
            registry.get(path).is_some_and(|found| found.cost == Cost::Expensive)
        };
        let reads = self.plan.reads.iter().filter(|read| is_expensive(&read.decorator));
        self.expensive = reads.map(|read| read.key.clone()).collect();
        // What is drawn is not read: the keys of the values that came of it begin with who drew it.
        let is_drawn = |root: &str| {
            registry.built_in().filter(|it| it.generator.is_some()).any(|drawer| {
                let following = root.strip_prefix(drawer.path);
                following.is_some_and(|following| {
                    following.is_empty() || following.starts_with(['(', '.', '#'])
                })
            })
        };
        let roots = self.plan.values.values().flat_map(|value| &value.roots);
        self.expensive.extend(roots.filter(|root| is_drawn(root)).cloned());
        for step in self.plan.all_steps() {
            if let Some(described) = resource::described(step, registry) {
                self.keys.insert(&step.path, resource::key(self.plan, step, described));
            }
        }
        self
    }

    #[must_use]
    pub fn with_facts(mut self, facts: Facts) -> Self {
        self.facts = facts;
        self
    }

    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }
}

impl Facts {
    /// What a contract says about itself. Its signer is the key it names, checked or not.
    #[must_use]
    pub fn of(contract: &Contract) -> Self {
        let made = contract.provenance();
        let plugins = made.plugins.iter().map(|plugin| PluginFact {
            name: plugin.name.clone(),
            version: plugin.version.clone(),
            source: Some(plugin.source.clone()),
            verification: Some(plugin.verification.clone()),
            signed_by: plugin.signed_by.clone(),
            engine: plugin.engine.clone(),
        });
        let generated_by = match (&made.generated_by, &made.host) {
            (Some(who), Some(host)) => Some(format!("{who}@{host}")),
            (who, host) => who.clone().or_else(|| host.clone()),
        };
        Self {
            created: Some(contract.created()),
            compiler_version: Some(made.compiler.clone()),
            source_commit: made.commit.clone(),
            source_modified: made.modified,
            source_path: made.source.as_ref().map(|source| source.path.clone()),
            sources: made.sources.iter().map(|it| (it.path.clone(), it.digest)).collect(),
            options: options(&made.options),
            seed: made.seed.clone(),
            generated_by,
            plugins: plugins.collect(),
            project: made.project.clone(),
            key_of_process: false,
            expires: made.expires,
            once: made.once,
            signed_by: made.signer.map(|key| Digest(key).hex()).into_iter().collect(),
            resources: made.resources.iter().map(|it| (it.path.clone(), it.status)).collect(),
            targets: made.targets.clone(),
        }
    }
}

/// `--root /srv/opal`, each with its values.
fn options(given: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let words = |(name, values): (&String, &Vec<String>)| {
        let flag = format!("--{name}");
        if values.is_empty() {
            return vec![flag];
        }
        values.iter().map(|value| format!("{flag} {value}")).collect()
    };
    given.iter().flat_map(words).collect()
}

/// A step in one text, as the tree has it, but without its block, numbers and colours, and with
/// nothing that a plan knows and its file does not: such texts can be compared. It may hold line
/// feeds and control characters: see [`visible`].
#[must_use]
pub fn step_text(plan: &Plan, step: &Step, without_defaults: Option<&Registry>) -> String {
    let mut ink = ink::Ink::exact();
    words::Words::exact(plan).without_defaults(without_defaults).step(step, &mut ink);
    ink.finish()
}

/// A step that is held against the same step of another plan, in one text: as [`step_text`] has it, with
/// public values in clear.
#[must_use]
pub fn compared_text(plan: &Plan, step: &Step, without_defaults: Option<&Registry>) -> String {
    let mut ink = ink::Ink::exact();
    words::Words::compared(plan).without_defaults(without_defaults).step(step, &mut ink);
    ink.finish()
}

/// The same with every line of every text, for somebody who decides by what differs.
#[must_use]
pub fn whole_text(plan: &Plan, step: &Step, without_defaults: Option<&Registry>) -> String {
    let mut ink = ink::Ink::exact();
    words::Words::whole(plan).without_defaults(without_defaults).step(step, &mut ink);
    ink.finish()
}

/// What a run shows of values that are not public in its plan.
#[derive(Debug)]
pub struct Visible<'a> {
    pub values: &'a BTreeMap<Key, Value>,
    /// What earlier steps have given, by [`captured_key`]: only what is not a secret.
    pub captured: BTreeMap<String, Value>,
    /// The member of a fleet that the step runs on.
    pub member: Option<&'a str>,
}

/// By what [`Visible`] finds a captured value.
#[must_use]
pub fn captured_key(handle: &Handle) -> String {
    words::handle_use_text(handle)
}

/// A step that runs, in one text: as [`step_text`] has it, with public values in clear, and others as
/// `visible` shows them.
#[must_use]
pub fn running_text(
    plan: &Plan,
    step: &Step,
    registry: &Registry,
    visible: &Visible<'_>,
) -> String {
    let mut ink = ink::Ink::exact();
    words::Words::running(plan, visible).without_defaults(Some(registry)).step(step, &mut ink);
    ink.finish()
}

/// `sha256:` and all digits.
fn named_digest(algorithm: Algorithm, digest: &Digest) -> String {
    format!("{}:{}", algorithm.name(), digest.hex())
}

/// Seconds of Unix time in RFC 3339, UTC. Years that RFC 3339 cannot write have no text.
#[must_use]
pub fn time_text(seconds: i64) -> Option<String> {
    let time = jiff::Timestamp::from_second(seconds).ok()?.to_string();
    time.starts_with(|first: char| first.is_ascii_digit()).then_some(time)
}
