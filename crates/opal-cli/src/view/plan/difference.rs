//! One difference: what was expected, what is there, and why. Placeholders, never values.

use std::collections::BTreeMap;

use opal_core::Registry;
use opal_core::contract::{Cause, Change, Difference, Side as Shown, Verdict};
use opal_core::plan::{Plan, Step};
use opal_core::view::{Uses, compared_text, visible, whole_text};
use opal_ops::source::Loaded;
use opal_ops::source::files::Lines;
use serde_json::json;

use super::Comparison;

/// The most steps that are shown for one value, unless all are; the others are counted.
const SHOWN_STEPS: usize = 3;

/// The steps of both plans, to be found by path and by the values they use.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    before: Side<'a>,
    after: Side<'a>,
    verdict: &'a Verdict,
    registry: &'a Registry,
    is_older: bool,
    /// The lines of the source of now.
    source: Option<Lines<'a>>,
    /// How many steps are shown for one value.
    most: usize,
}

#[derive(Debug)]
struct Side<'a> {
    plan: &'a Plan,
    by_path: BTreeMap<&'a str, &'a Step>,
    by_value: BTreeMap<&'a str, Vec<&'a Step>>,
    /// Whether the texts of steps have all their lines.
    is_whole: bool,
}

impl<'a> Side<'a> {
    fn new(plan: &'a Plan) -> Self {
        let (by_path, by_value) = (BTreeMap::new(), BTreeMap::new());
        let mut side = Self { plan, by_path, by_value, is_whole: false };
        plan.steps.iter().for_each(|step| side.add(step));
        side
    }

    fn add(&mut self, step: &'a Step) {
        self.by_path.insert(&step.path, step);
        for key in Uses::of(step).values {
            self.by_value.entry(key).or_default().push(step);
        }
        step.block.iter().for_each(|inner| self.add(inner));
    }

    /// The step at `path`.
    fn step(&self, path: &str) -> Option<&'a Step> {
        self.by_path.get(path).copied()
    }

    /// It in one text, without the arguments in `hidden`.
    fn text(&self, step: &Step, registry: Option<&Registry>) -> String {
        match self.is_whole {
            true => whole_text(self.plan, step, registry),
            false => compared_text(self.plan, step, registry),
        }
    }

    fn users(&self, key: &str) -> &[&'a Step] {
        self.by_value.get(key).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Steps<'a> {
    /// The paths of the steps of now that use a value.
    pub(super) fn now_with(&self, key: &str) -> impl Iterator<Item = &'a str> {
        self.after.by_value.get(key).into_iter().flatten().map(|step| &*step.path)
    }

    pub(super) fn new(comparison: &Comparison<'a>) -> Self {
        Self {
            before: Side::new(comparison.before),
            after: Side::new(comparison.after),
            verdict: comparison.verdict,
            registry: comparison.registry,
            is_older: comparison.is_older,
            source: comparison.source.map(Loaded::lines),
            most: SHOWN_STEPS,
        }
    }

    /// The same, with every step that uses a value and every line of a text: for whoever decides by what is
    /// shown.
    pub(super) fn all(comparison: &Comparison<'a>) -> Self {
        let mut all = Self { most: usize::MAX, ..Self::new(comparison) };
        all.before.is_whole = true;
        all.after.is_whole = true;
        all
    }

    /// A step in both plans, in the words of the tree. Arguments that have their default are left
    /// out, unless one of the plans has another value for one of them.
    fn both(&self, before: Option<&Step>, after: Option<&Step>) -> [Option<String>; 2] {
        let registry = self.registry;
        let defaults = |step: &Step| -> Vec<String> {
            let args = step.args.iter();
            let defaults = args.filter(|(name, arg)| registry.is_default(&step.node, name, arg));
            defaults.map(|(name, _)| name.to_string()).collect()
        };
        let differ = matches!((before, after), (Some(before), Some(after))
            if defaults(before) != defaults(after));
        let hidden = Some(registry).filter(|_| !differ || self.is_older);
        [
            before.map(|step| self.before.text(step, hidden)),
            after.map(|step| self.after.text(step, hidden)),
        ]
    }

    /// The step of a structural difference in both plans.
    pub(super) fn texts(&self, one: &Difference) -> [Option<String>; 2] {
        let Some(path) = one.path.as_deref() else { return [None, None] };
        let after = self.after.step(path);
        match one.change {
            Change::Added | Change::Resource => self.both(None, after),
            Change::Removed => self.both(self.before.step(path), None),
            Change::Changed => {
                let was = one.was.as_deref().and_then(|was| self.before.step(was));
                let [before, after] = self.both(was, after);
                // What differs may be nothing that a text shows.
                [before.filter(|before| Some(before) != after.as_ref()), after]
            }
            Change::Target | Change::Value | Change::Machine | Change::NewMachine => [None, None],
        }
    }

    /// Paths of the steps that use a value, with their text in both plans.
    pub(super) fn users(&self, key: &str) -> Vec<(&str, [Option<String>; 2])> {
        let (before, after) = (self.before.users(key), self.after.users(key));
        if after.is_empty() {
            let gone = before.iter().take(self.most);
            return gone.map(|step| (&*step.path, self.both(Some(step), None))).collect();
        }
        let shown = after.iter().take(self.most).map(|step| {
            let was = self.verdict.was(&step.path).and_then(|was| self.before.step(was));
            (&*step.path, self.both(was, Some(step)))
        });
        shown.collect()
    }

    /// ` (commands.opl:12)`: where a step of the plan of now is written.
    fn place(&self, path: &str) -> String {
        let place = self.file_line(path);
        place.map(|place| format!(" ({})", visible::line(&place))).unwrap_or_default()
    }

    /// `commands.opl:12`.
    pub(super) fn file_line(&self, path: &str) -> Option<String> {
        let step = self.after.step(path).filter(|step| !step.span.is_empty())?;
        let (name, line) = self.source.as_ref()?.of(step.span.start);
        Some(format!("{name}:{line}"))
    }

    /// The paths of all steps of the plan of now that use a value.
    pub(super) fn paths_of(&self, key: &str) -> impl Iterator<Item = &'a str> {
        self.after.users(key).iter().map(|step| &*step.path)
    }

    /// A step of the plan of now in one text.
    pub(super) fn text_after(&self, step: &Step) -> String {
        self.after.text(step, Some(self.registry))
    }

    pub(super) fn count_users(&self, key: &str) -> usize {
        self.after.users(key).len().max(self.before.users(key).len())
    }
}

/// A line that says what it is, then what was and what is.
pub(super) fn human(
    comparison: &Comparison<'_>,
    steps: &Steps<'_>,
    one: &Difference,
    colour: bool,
    out: &mut String,
) {
    let place = one.path.as_deref().map(|path| steps.place(path)).unwrap_or_default();
    headline(one, &place, colour, out);
    let pair = Pair { names: comparison.names, colour };
    if let Some(key) = &one.key {
        for (path, texts) in steps.users(key) {
            out.push_str(&format!("  {}{}\n", visible::line(path), steps.place(path)));
            pair.write("    ", texts, out);
        }
        let more = steps.count_users(key).saturating_sub(steps.most);
        if more > 0 {
            out.push_str(&format!("  and in {more} more\n"));
        }
    } else {
        pair.write("  ", steps.texts(one), out);
    }
    for cause in one.other_causes() {
        out.push_str(&format!("  {}\n", visible::line(&cause.key)));
        pair.write("    ", placeholders(cause), out);
    }
}

/// What it is about, and in which way it differs.
pub(super) fn headline(one: &Difference, place: &str, colour: bool, out: &mut String) {
    let (bold, reset) = if colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let (label, words) = (visible::line(&one.label()), visible::line(&one.words));
    out.push_str(&format!("{bold}{label}{reset}: {words}{place}\n"));
}

/// How two texts are set against each other.
struct Pair<'a> {
    names: [&'a str; 2],
    colour: bool,
}

impl Pair<'_> {
    fn write(&self, indent: &str, texts: [Option<String>; 2], out: &mut String) {
        let width = self.names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        let codes = [("-", "\x1b[31m"), ("+", "\x1b[32m")];
        for ((name, (sign, code)), text) in self.names.iter().zip(codes).zip(texts) {
            let Some(text) = text else { continue };
            let (code, reset) = if self.colour { (code, "\x1b[0m") } else { ("", "") };
            for (index, line) in text.split('\n').enumerate() {
                let label = if index == 0 { format!("{name}:") } else { String::new() };
                let line = visible::line(line);
                let label_width = width + 1;
                out.push_str(&format!("{indent}{code}{sign} {label:label_width$} {line}{reset}\n"));
            }
        }
    }
}

pub(super) fn placeholders(cause: &Cause) -> [Option<String>; 2] {
    let shown = |side: &Option<Shown>| side.as_ref().map(ToString::to_string);
    [shown(&cause.before), shown(&cause.after)]
}

pub(super) fn json(
    comparison: &Comparison<'_>,
    steps: &Steps<'_>,
    one: &Difference,
) -> serde_json::Value {
    if one.machine.is_some() {
        return machine_json(one);
    }
    let change = change(one.change);
    let both = |[before, after]: [Option<String>; 2]| json!({"before": before, "after": after});
    let mut node = json!({
        "change": change,
        "code": one.code.name(),
        "words": one.words,
        "causes": one.causes.iter().map(|cause| {
            let [before, after] = placeholders(cause);
            json!({"key": &*cause.key, "before": before, "after": after})
        }).collect::<Vec<_>>(),
    });
    if one.change == Change::Target {
        let names =
            [comparison.before, comparison.after].map(|plan| Some(plan.target.name.clone()));
        node["target"] = both(names);
    }
    if let Some(path) = &one.path {
        node["path"] = path.as_ref().into();
        node["step"] = both(steps.texts(one));
    }
    if let Some(was) = &one.was {
        node["was"] = was.as_ref().into();
    }
    if let Some(key) = &one.key {
        let sides = [one.before.as_ref(), one.after.as_ref()];
        node["key"] = (**key).into();
        node["placeholder"] = both(sides.map(|side| Some(side?.placeholder.to_string())));
        if sides.iter().flatten().any(|side| side.public.is_some()) {
            let clear = |side: &Shown| side.public.as_ref().map(|_| side.to_string());
            node["public"] = both(sides.map(|side| side.and_then(clear)));
        }
        let users = steps.users(key).into_iter().map(|(path, texts)| {
            let mut user = both(texts);
            user["path"] = path.into();
            user
        });
        node["steps"] = users.collect();
        node["steps_in_all"] = steps.count_users(key).into();
    }
    node
}

pub(super) fn change(change: Change) -> &'static str {
    match change {
        Change::Target => "target",
        Change::Added => "added",
        Change::Removed => "removed",
        Change::Changed => "changed",
        Change::Value => "value",
        Change::Resource => "resource",
        Change::Machine => "machine",
        Change::NewMachine => "new_machine",
    }
}

/// A difference of a machine, for programs.
pub(super) fn machine_json(one: &Difference) -> serde_json::Value {
    json!({
        "change": change(one.change),
        "code": one.code.name(),
        "words": one.words,
        "causes": [],
        "machine": one.machine,
    })
}
