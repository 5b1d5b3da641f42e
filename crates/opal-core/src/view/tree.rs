//! The tree: one step a line, what it depends on below, and the hash at the end.

use std::collections::BTreeMap;

use super::ink::{Ink, Style};
use super::words::{Words, reference};
use super::{Facts, PlanFormatter, PlanView, PluginFact, named_digest, time_text};
use crate::Value;
use crate::contract::{Seed, TargetRecord};
use crate::crossing::TARGETS;
use crate::plan::{Arg, ChainOperator, Plan, PlanValue, Step};
use crate::resource::Status;

/// Where the targets of a block are from, and how a program begins there that lists them.
const INVENTORY: &str = "inventory";
const PROGRAM: &str = "cmd:";

/// Targets whose lines are written out.
const MAX_TARGETS: usize = 100;

/// UTF-8 text with box characters. What runs is never cut: what is hidden cannot be reviewed. Why it
/// runs is a [`Step::reason`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Tree {
    /// Whether to write ANSI colour codes.
    pub colour: bool,
}

impl PlanFormatter for Tree {
    fn format(&self, view: &PlanView<'_>) -> Vec<u8> {
        let mut drawing = Drawing {
            ink: Ink::terminal(self.colour),
            words: Words::annotated(view),
            paths: view.with_paths,
            places: &view.places,
        };
        drawing.ink.inline(Style::Bold, &view.plan.target.name);
        drawing.ink.write(":");
        drawing.ink.end_line();
        if view.plan.steps.is_empty() {
            drawing.line("└─ no steps to run");
        }
        drawing.block(&view.plan.steps, &[]);
        drawing.arguments(view.plan);
        drawing.values(view.plan);
        drawing.numbered(view.plan);
        drawing.reads(view.plan);
        drawing.targets(&view.facts.targets);
        drawing.foot(view);
        drawing.ink.finish().into_bytes()
    }
}

#[derive(Debug)]
struct Drawing<'a> {
    ink: Ink,
    words: Words<'a>,
    /// Whether each step has its path beside it.
    paths: bool,
    places: &'a BTreeMap<&'a str, String>,
}

impl Drawing<'_> {
    /// Steps after the bars of what they are in. `operators` are in front of all but the first.
    fn block(&mut self, steps: &[Step], operators: &[ChainOperator]) {
        let outer = self.ink.bars.len();
        for (index, step) in steps.iter().enumerate() {
            let is_last = index + 1 == steps.len();
            let bars = self.ink.bars[..outer].to_owned();
            self.ink.drawn(&(bars + if is_last { "└─ " } else { "├─ " }));
            self.ink.bars.push_str(if is_last { "   " } else { "│  " });
            if let Some(operator) = index.checked_sub(1).and_then(|before| operators.get(before)) {
                self.ink.styled(Style::Bold, operator.text());
                self.ink.write(" ");
            }
            self.step(step);
            self.ink.bars.truncate(outer);
        }
    }

    fn step(&mut self, step: &Step) {
        let inner = self.ink.bars.len();
        if !step.block.is_empty() {
            // Further lines of this step keep clear of the bar that leads to its block.
            self.ink.bars.push_str("│  ");
        }
        self.words.step(step, &mut self.ink);
        if self.paths {
            self.ink.inline(Style::Dim, &format!("  [{}]", step.path));
        }
        if let Some(place) = self.places.get(&*step.path) {
            self.ink.inline(Style::Dim, &format!("  ({place})"));
        }
        self.ink.end_line();
        self.ink.bars.truncate(inner);
        self.block(&step.block, &step.operators());
    }

    fn plain(&mut self, text: &str) {
        self.ink.inline(Style::Plain, text);
    }

    fn line(&mut self, text: &str) {
        self.plain(text);
        self.ink.end_line();
    }

    fn title(&mut self, title: &str) {
        self.ink.end_line();
        self.ink.inline(Style::Bold, title);
        self.ink.end_line();
    }

    /// `  name = value  (more)`.
    fn entry(&mut self, name: &str, value: &str, more: &[String]) {
        self.plain(&format!("  {name} = "));
        self.ink.inline(Style::Value, value);
        self.more(more);
    }

    fn more(&mut self, more: &[String]) {
        if !more.is_empty() {
            self.ink.inline(Style::Dim, &format!("  ({})", more.join(", ")));
        }
        self.ink.end_line();
    }

    fn arguments(&mut self, plan: &Plan) {
        if plan.target.arguments.is_empty() {
            return;
        }
        self.title("Arguments:");
        for (name, value) in &plan.target.arguments {
            self.entry(name, &value.to_string(), &[]);
        }
    }

    fn values(&mut self, plan: &Plan) {
        if plan.values.is_empty() {
            return;
        }
        self.title("Values:");
        for (key, value) in &plan.values {
            let public = value.public.as_ref().map(|_| "public".to_owned());
            let more: Vec<String> = public.into_iter().chain(held_by(&value.holders)).collect();
            self.entry(key, &shown(value), &more);
        }
    }

    fn numbered(&mut self, plan: &Plan) {
        if !plan.deferred.is_empty() {
            self.title("Deferred:");
        }
        for (index, deferred) in plan.deferred.iter().enumerate() {
            self.plain(&format!("  {}. {} → ", index + 1, reference(&deferred.key)));
            self.ink.inline(Style::Open, &format!("<expensive: {}>", deferred.why));
            self.more(&held_by(&deferred.holders).into_iter().collect::<Vec<_>>());
        }
        let resolved = self.words.resolved().to_vec();
        if !resolved.is_empty() {
            self.title("Resolved:");
        }
        for (index, key) in resolved.iter().enumerate() {
            self.plain(&format!("  {}. {} → ", index + 1, reference(key)));
            let value = plan.values.get(key).map(shown).unwrap_or_default();
            self.ink.inline(Style::Value, &value);
            self.ink.end_line();
        }
    }

    fn reads(&mut self, plan: &Plan) {
        let listed: BTreeMap<&str, usize> = plan.all_steps().filter_map(listed).collect();
        let reads = plan.reads.iter().filter(|read| !is_of_block(&read.key));
        let reads: Vec<_> = reads.collect();
        if !reads.is_empty() || !listed.is_empty() {
            self.title("Reads:");
        }
        for (program, count) in listed {
            let s = if count == 1 { "" } else { "s" };
            self.entry(program, &format!("{count} target{s}"), &[]);
        }
        for read in reads {
            match (&read.public, &read.placeholder) {
                (Some(public), _) => {
                    self.entry(&read.key, &public.to_string(), &["public".to_owned()]);
                }
                (None, Some(placeholder)) => self.entry(&read.key, &placeholder.to_string(), &[]),
                (None, None) => self.line(&format!("  {}  (generated by the run)", read.key)),
            }
        }
    }

    /// Who answered on each target.
    fn targets(&mut self, targets: &[TargetRecord]) {
        if targets.is_empty() {
            return;
        }
        self.title("Targets:");
        for target in targets.iter().take(MAX_TARGETS) {
            self.line(&format!("  {}: {}", target.name, target.words()));
        }
        if let Some(more) = targets.len().checked_sub(MAX_TARGETS).filter(|more| *more > 0) {
            self.line(&format!("  and {more} more, which `--format json` lists"));
        }
    }

    fn foot(&mut self, view: &PlanView<'_>) {
        self.ink.end_line();
        self.ink.inline(Style::Bold, "Plan Hash:");
        self.line(&format!(" {}", named_digest(view.plan.algorithm, &view.plan_hash)));
        for (name, text) in facts(&view.facts) {
            self.ink.inline(Style::Bold, name);
            self.line(&format!(" {text}"));
        }
        if view.facts.key_of_process {
            self.note("these placeholders belong to this process: no other plan has the same");
        }
        for note in &view.notes {
            self.note(note);
        }
    }

    fn note(&mut self, text: &str) {
        self.ink.inline(Style::Open, "note:");
        self.line(&format!(" {text}"));
    }
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
        ("Project:", facts.project.clone()),
        ("Source:", facts.source_path.clone()),
        ("Commit:", facts.source_commit.as_ref().map(|commit| marked(commit, facts))),
        ("Made:", (!made.is_empty()).then(|| made.join(" "))),
        ("Plugins:", (!plugins.is_empty()).then(|| plugins.join(", "))),
        ("Signed by:", (!facts.signed_by.is_empty()).then(|| facts.signed_by.join(", "))),
        ("Resources:", counted(&facts.resources)),
        ("Options:", (!facts.options.is_empty()).then(|| facts.options.join(", "))),
        ("Seed:", facts.seed.as_ref().map(seed)),
        ("Expires:", facts.expires.and_then(time_text)),
        ("Once:", facts.once.then(|| "it may run only once".to_owned())),
    ];
    lines.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}
