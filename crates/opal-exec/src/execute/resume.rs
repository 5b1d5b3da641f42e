//! Where a run begins that does not begin at the first step: what precedes it, whether it can begin
//! there, and where one that was cut off is taken up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opal_core::Data;
use opal_core::plan::{ChainOperator, Key, Node, Plan, Step, all};
use opal_core::shell::Movement;
use opal_core::unready::Unready;

use super::chain::{Ends, follow};
use super::handles::handles;
use super::steps::moves;
use super::values::{Values, is_open};
use crate::error::StepError;

/// What precedes the first step to run.
#[derive(Debug, Default)]
pub(super) struct From<'p> {
    /// The step itself, and what is around it.
    around: BTreeSet<&'p str>,
    /// What ends before it, without what is inside.
    before: Vec<Before<'p>>,
    skipped: BTreeSet<&'p str>,
    first: Option<&'p str>,
    /// Whether the first step has been come to: what is tried again from then on runs as a whole.
    is_reached: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Before<'p> {
    step: &'p Step,
    /// What it is in; none for the plan.
    parent: Option<&'p Step>,
}

impl<'p> From<'p> {
    pub(super) fn new(plan: &'p Plan, path: Option<&str>) -> Self {
        Self::of(&plan.steps, path)
    }

    /// The same for the steps of a target, which begins by itself.
    pub(super) fn of(steps: &'p [Step], path: Option<&str>) -> Self {
        let mut from = Self::default();
        if let Some(path) = path {
            from.find(steps, None, path);
        }
        from.skipped = from.before.iter().map(|before| &*before.step.path).collect();
        from
    }

    fn find(&mut self, steps: &'p [Step], parent: Option<&'p Step>, path: &str) -> bool {
        let known = self.before.len();
        for step in steps {
            let is_first = &*step.path == path;
            if is_first || self.find(&step.block, Some(step), path) {
                self.first = self.first.or(Some(&step.path));
                self.around.insert(&step.path);
                return true;
            }
            self.before.push(Before { step, parent });
        }
        self.before.truncate(known);
        false
    }

    /// The same for a target of a fleet: each comes to the first step by itself.
    pub(super) fn apart(&self) -> Self {
        let is_reached = AtomicBool::new(self.is_reached.load(Ordering::SeqCst));
        let Self { around, before, skipped, first, .. } = self;
        let (around, before) = (around.clone(), before.clone());
        Self { around, before, skipped: skipped.clone(), first: *first, is_reached }
    }

    /// All targets of a fleet have come to the first step, where it is in it.
    pub(super) fn reach_in(&self, fleet: &Step) {
        if self.is_inside(fleet) {
            self.is_reached.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn skips(&self, step: &Step) -> bool {
        !self.is_reached.load(Ordering::SeqCst) && self.skipped.contains(&*step.path)
    }

    /// Whether the first step is the step itself, or in it.
    pub(super) fn is_inside(&self, step: &Step) -> bool {
        self.around.contains(&*step.path)
    }

    /// Whether the run has still to begin, and does so in this step.
    pub(super) fn begins_in(&self, step: &Step) -> bool {
        !self.is_reached.load(Ordering::SeqCst) && self.is_inside(step)
    }

    /// The run has come to a step.
    pub(super) fn reach(&self, step: &Step) {
        if self.first == Some(&*step.path) {
            self.is_reached.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn is_found(&self) -> bool {
        !self.around.is_empty()
    }

    fn before(&self) -> &[Before<'p>] {
        &self.before
    }
}

/// Whether a run of the plan can begin at `path`.
#[must_use]
pub fn can_begin(plan: &Plan, values: &BTreeMap<Key, Data>, path: &str) -> bool {
    begins(&plan.steps, Values::before(values), path).is_empty()
}

/// Why steps cannot begin at `path`.
pub(super) fn begins(steps: &[Step], values: Values<'_>, path: &str) -> Vec<Unready> {
    let from = From::of(steps, Some(path));
    if !from.is_found() {
        return vec![Unready::of_plan(StepError::UnknownStep(path).into())];
    }
    let mut found = Vec::new();
    let mut bound = BTreeMap::new();
    for before in from.before() {
        found.extend(stays(before, &from, values));
        for step in all(std::slice::from_ref(before.step)) {
            if let Some(binding) = &step.binding {
                bound.insert(binding.id.clone(), step);
            }
        }
    }
    let mut needed = BTreeSet::new();
    used(steps, &from, &mut needed);
    for (id, step) in bound {
        if let (true, Some(binding)) = (needed.contains(&id), &step.binding) {
            let message = format!(
                "`let.{}` is needed, but `{}`, which binds it, would be skipped",
                binding.name, step.path
            );
            found.push(Unready::invalid(step, message, "begin at that step, or before it"));
        }
    }
    found
}

/// The run-time values that steps need which are not skipped.
fn used(steps: &[Step], from: &From<'_>, into: &mut BTreeSet<Arc<str>>) {
    for step in steps.iter().filter(|step| !from.skips(step)) {
        handles(step, &mut |handle| {
            into.insert(handle.id.clone());
        });
        used(&step.block, from, into);
    }
}

/// What cannot be left out without changing what follows.
fn stays(before: &Before<'_>, from: &From<'_>, values: Values<'_>) -> Vec<Unready> {
    let step = before.step;
    let parent = before.parent;
    if let Some(chain) = parent.filter(|parent| parent.node == Node::Chain) {
        let at = chain.block.iter().position(|operand| operand.path == step.path);
        let is_piped = at.is_some_and(|at| chain.operators().get(at) == Some(&ChainOperator::Pipe));
        let next = at.and_then(|at| chain.block.get(at + 1));
        if is_piped && next.is_some_and(|next| from.is_inside(next)) {
            let message = "the run cannot begin after a pipe: its input would be missing";
            let help = format!("begin at `{}`", chain.path);
            return vec![Unready::invalid(step, message, help)];
        }
    }
    // The directory of a body ends with it.
    if parent.is_some_and(|parent| parent.node == Node::Try) && leaves_body(parent, from) {
        return Vec::new();
    }
    let moved = match parent {
        // What its chain has done until the run begins in it is asked once, of the first operand.
        Some(chain) if chain.node == Node::Chain => {
            let is_first = chain.block.first().is_some_and(|first| first.path == step.path);
            if is_first { Moved::before(chain, from, values) } else { Moved::default() }
        }
        _ => Moved::default().after(step, values).ok,
    };
    let say = |step: &Step| {
        let message = format!("`{}` would be skipped, but it may change the directory", step.path);
        Unready::invalid(step, message, "begin before it, or put the `cd` in a separate step")
    };
    moved.maybe.into_values().map(say).collect()
}

/// The steps that have changed the directory, by their paths.
#[derive(Clone, Debug, Default)]
struct Moved<'p> {
    surely: BTreeMap<&'p str, &'p Step>,
    /// Where to, or whether at all, is not known without running it.
    maybe: BTreeMap<&'p str, &'p Step>,
}

impl<'p> Moved<'p> {
    /// What a chain has done when the run begins in one of its operands.
    fn before(chain: &'p Step, from: &From<'_>, values: Values<'_>) -> Self {
        let (mut skipped, mut entered) = (Self::default(), None);
        let mut run = |operands: &'p [Step], moved: Self| {
            if operands.iter().any(|operand| from.is_inside(operand)) {
                entered = Some(moved.clone());
            }
            let ends = moved.after_all(operands, values);
            if entered.is_none() {
                skipped.surely.extend(&ends.ok.surely);
            }
            ends
        };
        follow(chain, Self::default(), &mut run, &Self::either);
        // A `cd` that is skipped still moves, also one that a later operand runs only without.
        entered.unwrap_or_default().either(skipped)
    }

    fn after(self, step: &'p Step, values: Values<'_>) -> Ends<Self> {
        if step.node == Node::Chain {
            let mut run = |operands: &'p [Step], moved: Self| moved.after_all(operands, values);
            let ok = follow(step, self.clone(), &mut run, &Self::either);
            return Ends { failed: self.either(ok.clone()), ok };
        }
        let mut ok = self.clone();
        let is_open = step.args.iter().any(|(_, arg)| is_open(arg));
        match moves(step, values) {
            Ok(Movement::Only(_)) if !is_open => {
                ok.surely.insert(&step.path, step);
                Ends { ok, failed: self }
            }
            Ok(Movement::May | Movement::Only(_)) => {
                ok.maybe.insert(&step.path, step);
                Ends { failed: ok.clone(), ok }
            }
            _ => Ends { ok, failed: self },
        }
    }

    /// What happens to the directory in an operand of a pipe ends with it.
    fn after_all(self, operands: &'p [Step], values: Values<'_>) -> Ends<Self> {
        match operands {
            [operand] => self.after(operand, values),
            _ => Ends { ok: self.clone(), failed: self },
        }
    }

    /// What one of two has done and the other has not may have been done.
    fn either(self, other: Self) -> Self {
        let mut maybe = self.maybe;
        maybe.extend(other.maybe);
        let mut surely = BTreeMap::new();
        for (path, step) in self.surely.iter().chain(&other.surely) {
            let is_in_both = self.surely.contains_key(path) && other.surely.contains_key(path);
            if is_in_both { &mut surely } else { &mut maybe }.insert(*path, *step);
        }
        Self { surely, maybe }
    }
}

fn leaves_body(parent: Option<&Step>, from: &From<'_>) -> bool {
    let clauses = parent.map_or(&[][..], |parent| &parent.block).iter();
    let mut clauses = clauses.filter(|step| matches!(step.node, Node::Catch | Node::Finally));
    clauses.any(|clause| from.is_inside(clause))
}

/// Where a run can be taken up that ended at `path`: there, or at the outermost thing around it
/// that is right only as a whole. None where the plan has no such step.
///
/// | around it | in part |
/// |---|---|
/// | `@parallel` | branches before it that were stopped would be left out |
/// | a pipe | what precedes it would write nothing |
/// | a block that is redirected | the file would have no beginning, or be read from it again |
#[must_use]
pub fn together<'p>(plan: &'p Plan, path: &str) -> Option<&'p str> {
    together_in(&plan.steps, path)
}

/// The same among the steps of a target.
pub(super) fn together_in<'p>(steps: &'p [Step], path: &str) -> Option<&'p str> {
    steps.iter().find_map(|step| whole(step, path)).map(|step| &*step.path)
}

fn whole<'p>(step: &'p Step, path: &str) -> Option<&'p Step> {
    if &*step.path == path {
        return Some(step);
    }
    let inside = |(at, inner)| Some((at, whole(inner, path)?));
    let (at, found) = step.block.iter().enumerate().find_map(inside)?;
    if step.node.is_decorator("parallel") || !step.redirects.is_empty() {
        return Some(step);
    }
    let operators = step.operators();
    let is_piped = |at: usize| operators.get(at) == Some(&ChainOperator::Pipe);
    let before = (0..at).rev().take_while(|&at| is_piped(at)).count();
    Some(if before > 0 || is_piped(at) { &step.block[at - before] } else { found })
}
