//! A plan in words, part by part, for every view that shows one to people.

use std::collections::BTreeMap;

use super::ink::Ink;
use super::words::{Words, reference};
use super::{Facts, PlanView, PluginFact, named_digest, time_text};
use crate::Value;
use crate::contract::Seed;
use crate::crossing::TARGETS;
use crate::message;
use crate::plan::{Arg, PlanValue, Step};
use crate::resource::Status;

/// Where the targets of a block are from, and how a program begins there that lists them.
const INVENTORY: &str = "inventory";
const PROGRAM: &str = "cmd:";

/// Targets whose lines are written out, unless all are.
const MAX_TARGETS: usize = 100;

/// The steps first: values get their numbers in the order in which steps show them.
#[derive(Debug)]
pub struct Outline<'a> {
    view: &'a PlanView<'a>,
    words: Words<'a>,
}

/// What is listed below the steps under one title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub title: &'static str,
    pub entries: Vec<Entry>,
}

/// One line of a section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What precedes the value: `replicas = `.
    pub lead: String,
    pub value: String,
    /// The value is not known yet.
    pub is_open: bool,
    /// What else there is to say about it.
    pub more: Vec<String>,
}

impl<'a> Outline<'a> {
    #[must_use]
    pub fn new(view: &'a PlanView<'a>) -> Self {
        Self { view, words: Words::annotated(view) }
    }

    /// A step without its block, with the colours of a terminal. Line feeds are those of the step; all other
    /// characters that act or hide are drawn.
    #[must_use]
    pub fn step(&mut self, step: &Step) -> String {
        let mut ink = Ink::page();
        self.write(step, &mut ink);
        ink.finish()
    }

    pub(super) fn write(&mut self, step: &Step, ink: &mut Ink) {
        self.words.step(step, ink);
    }

    /// What is below the steps: arguments, values, reads, targets.
    #[must_use]
    pub fn sections(&self) -> Vec<Section> {
        let all = [
            ("Arguments", self.arguments()),
            ("Values", self.values()),
            ("Deferred", self.deferred()),
            ("Resolved", self.resolved()),
            ("Reads", self.reads()),
            ("Targets", self.targets()),
        ];
        let sections = all.into_iter().filter(|(_, entries)| !entries.is_empty());
        sections.map(|(title, entries)| Section { title, entries }).collect()
    }

    /// The hash, and where the plan comes from: each with its name.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let hash = named_digest(self.view.plan.algorithm, &self.view.plan_hash);
        let mut all = vec![("Plan Hash", hash)];
        all.extend(facts(&self.view.facts));
        all
    }

    /// Sentences for the reader, without a full stop.
    #[must_use]
    pub fn notes(&self) -> Vec<&str> {
        const OF_PROCESS: &str =
            "these placeholders belong to this process: no other plan has the same";
        let own = self.view.facts.key_of_process.then_some(OF_PROCESS);
        own.into_iter().chain(self.view.notes.iter().map(String::as_str)).collect()
    }

    fn arguments(&self) -> Vec<Entry> {
        let all = self.view.plan.target.arguments.iter();
        all.map(|(name, value)| pair(name, value.to_string(), [])).collect()
    }

    fn values(&self) -> Vec<Entry> {
        let entry = |(key, value): (&crate::plan::Key, &PlanValue)| {
            let public = value.public.as_ref().map(|_| "public".to_owned());
            pair(key, shown(value), public.into_iter().chain(held_by(&value.holders)))
        };
        self.view.plan.values.iter().map(entry).collect()
    }

    fn deferred(&self) -> Vec<Entry> {
        let all = self.view.plan.deferred.iter().enumerate();
        let entry = |(index, deferred): (usize, &crate::plan::Deferred)| Entry {
            lead: format!("{}. {} → ", index + 1, reference(&deferred.key)),
            value: format!("<expensive: {}>", deferred.why),
            is_open: true,
            more: held_by(&deferred.holders).into_iter().collect(),
        };
        all.map(entry).collect()
    }

    fn resolved(&self) -> Vec<Entry> {
        let entry = |(index, key): (usize, &crate::plan::Key)| Entry {
            lead: format!("{}. {} → ", index + 1, reference(key)),
            value: self.view.plan.values.get(key).map(shown).unwrap_or_default(),
            ..Entry::default()
        };
        self.words.resolved().iter().enumerate().map(entry).collect()
    }

    fn reads(&self) -> Vec<Entry> {
        let plan = self.view.plan;
        let listed: BTreeMap<&str, usize> = plan.all_steps().filter_map(listed).collect();
        let listed = listed.into_iter();
        let listed =
            listed.map(|(program, count)| pair(program, message::counted(count, "target"), []));
        let reads = plan.reads.iter().filter(|read| !is_of_block(&read.key));
        let reads = reads.map(|read| match (&read.public, &read.placeholder) {
            (Some(public), _) => pair(&read.key, public.to_string(), ["public".to_owned()]),
            (None, Some(placeholder)) => pair(&read.key, placeholder.to_string(), []),
            (None, None) => line(format!("{}  (generated by the run)", read.key)),
        });
        listed.chain(reads).collect()
    }

    /// Who answered on each target.
    fn targets(&self) -> Vec<Entry> {
        let targets = &self.view.facts.targets;
        let most = if self.view.is_whole { usize::MAX } else { MAX_TARGETS };
        let shown = targets.iter().take(most);
        let shown = shown.map(|target| line(format!("{}: {}", target.name, target.words())));
        let more = targets.len().checked_sub(most).filter(|more| *more > 0);
        let more = more.map(|more| line(format!("and {more} more, which `--format json` lists")));
        shown.chain(more).collect()
    }
}

/// `name = value  (more)`.
fn pair(name: &str, value: String, more: impl IntoIterator<Item = String>) -> Entry {
    let lead = format!("{name} = ");
    Entry { lead, value, is_open: false, more: more.into_iter().collect() }
}

fn line(text: String) -> Entry {
    Entry { lead: text, ..Entry::default() }
}

/// The program that was run to list the targets of a block, and how many it runs on.
fn listed(step: &Step) -> Option<(&str, usize)> {
    match (step.arg(INVENTORY)?, step.arg(TARGETS)?) {
        (Arg::Const(Value::String(from)), Arg::Const(Value::Array(targets)))
            if from.starts_with(PROGRAM) =>
        {
            Some((from, targets.len()))
        }
        _ => None,
    }
}

/// Whether the block itself says it: which target it runs on is not read anywhere.
fn is_of_block(key: &str) -> bool {
    let own = ["target.name", "target.host", "target.index", "target.groups"];
    let is_own = |name: &&str| {
        key.strip_suffix(*name).is_some_and(|site| site.is_empty() || site.ends_with('/'))
    };
    own.iter().any(is_own)
}

fn shown(value: &PlanValue) -> String {
    value.public.as_ref().map_or_else(|| value.placeholder.to_string(), ToString::to_string)
}

/// `var replicas, count`.
fn held_by(holders: &std::collections::BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = holders.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("var {}", names.join(", ")))
}

/// `2 satisfied, 1 missing`.
fn counted(resources: &[(Box<str>, Status)]) -> Option<String> {
    let count = |status| resources.iter().filter(|(_, it)| *it == status).count();
    let counts = Status::ALL.into_iter().map(|status| (count(status), status));
    let words: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, status)| format!("{count} {}", status.name()))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// `83d2a3d, modified`.
fn marked(commit: &str, facts: &Facts) -> String {
    format!("{commit}{}", if facts.source_modified { ", modified" } else { "" })
}

/// `chacha20-drbg, hkdf-sha256, scope plan, hash 1111…`: how random values are made, and nothing
/// that gives them away.
fn seed(seed: &Seed) -> String {
    let Seed { alg, kdf, scope, seed_hash } = seed;
    format!("{alg}, {kdf}, scope {scope}, hash {}", seed_hash.hex())
}

fn facts(facts: &Facts) -> Vec<(&'static str, String)> {
    let made = [
        facts.created.and_then(time_text),
        facts.generated_by.as_ref().map(|who| format!("by {who}")),
        facts.compiler_version.as_ref().map(|version| format!("with opal {version}")),
    ];
    let made: Vec<String> = made.into_iter().flatten().collect();
    let plugin = |plugin: &PluginFact| {
        let verified = plugin.verification.as_deref().filter(|it| *it != "none");
        // Code that no sandbox of opal's own runs is marked.
        let native = (plugin.engine.as_deref() == Some("native")).then_some("native code");
        let known = plugin.source.as_deref().into_iter().chain(verified).chain(native);
        let known: Vec<&str> = known.collect();
        let source = known.join(", ");
        let source = if source.is_empty() { source } else { format!(" ({source})") };
        format!("{} {}{source}", plugin.name, plugin.version)
    };
    let mut plugins: Vec<String> = facts.plugins.iter().map(plugin).collect();
    plugins.dedup();
    let lines = [
        ("Project", facts.project.clone()),
        ("Source", facts.source_path.clone()),
        ("Commit", facts.source_commit.as_ref().map(|commit| marked(commit, facts))),
        ("Made", (!made.is_empty()).then(|| made.join(" "))),
        ("Plugins", (!plugins.is_empty()).then(|| plugins.join(", "))),
        ("Signed by", (!facts.signed_by.is_empty()).then(|| facts.signed_by.join(", "))),
        ("Resources", counted(&facts.resources)),
        ("Options", (!facts.options.is_empty()).then(|| facts.options.join(", "))),
        ("Seed", facts.seed.as_ref().map(seed)),
        ("Expires", facts.expires.and_then(time_text)),
        ("Once", facts.once.then(|| "it may run only once".to_owned())),
    ];
    lines.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}
