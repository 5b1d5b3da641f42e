//! Which step of one plan is which step of the other.
//!
//! A step is known by its *shape*: what it does, without its path, since an added step moves the
//! paths of all after it. On each level equal shapes are matched, first from both ends, then in the
//! middle by the longest common row; between the matches, steps of the same decorator are one step
//! that changed. The work is bounded: where the middles are large, the longest common row is not
//! looked for, and steps are paired in their order.

use std::collections::BTreeSet;

use super::cause::{self, Cause, Reads};
use super::{Change, Difference, Drift, Paths, Sides, fingerprint, selection};
use crate::contract::wire_v1::{head, shape};
use crate::hash::Digest;
use crate::plan::{Key, Node, Plan, Step};

/// Pairs of steps that are compared for longest common rows, in all levels together.
const MAX_PAIRS: usize = 4_000_000;

/// A step with the fingerprints of its shape and of everything below it.
struct Shaped<'a> {
    step: &'a Step,
    own: Digest,
    whole: Digest,
    block: Vec<Shaped<'a>>,
}

fn shaped<'a>(plan: &Plan, step: &'a Step) -> Shaped<'a> {
    let block: Vec<Shaped<'a>> = step.block.iter().map(|inner| shaped(plan, inner)).collect();
    let own = fingerprint(&[&shape(plan, step)]);
    let mut parts: Vec<&[u8]> = vec![&own.0];
    parts.extend(block.iter().map(|inner| &inner.whole.0[..]));
    let whole = fingerprint(&parts);
    Shaped { step, own, whole, block }
}

pub(super) struct Walk<'a> {
    sides: &'a Sides<'a>,
    reads: &'a Reads<'a>,
    source_differs: bool,
    pairs_left: usize,
    /// What steered each construct around the place of the walk, the outermost first.
    around: Vec<Vec<Key>>,
    found: Vec<Difference>,
    /// Steps that only moved: they count where nothing else is found.
    moved: Vec<Difference>,
    paths: Paths,
    /// The targets that the block around has on one side only.
    reselected: BTreeSet<Box<str>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(sides: &'a Sides<'a>, reads: &'a Reads<'a>, source_differs: bool) -> Self {
        Self {
            sides,
            reads,
            source_differs,
            pairs_left: MAX_PAIRS,
            around: Vec::new(),
            found: Vec::new(),
            moved: Vec::new(),
            paths: Paths::new(),
            reselected: BTreeSet::new(),
        }
    }

    /// What differs, and which step is which.
    pub(super) fn outcome(mut self) -> (Vec<Difference>, Paths) {
        let all = |plan: &'a Plan| -> Vec<Shaped<'a>> {
            plan.steps.iter().map(|step| shaped(plan, step)).collect()
        };
        let (before, after) = (all(self.sides.before), all(self.sides.after));
        self.row(&before, &after);
        let differences = if self.found.is_empty() { self.moved } else { self.found };
        (differences, self.paths)
    }

    fn row(&mut self, before: &[Shaped<'a>], after: &[Shaped<'a>]) {
        let matches = self.matches(before, after);
        let (mut b, mut a) = (0, 0);
        for (next_b, next_a) in matches {
            self.gap(&before[b..next_b], &after[a..next_a]);
            self.elsewhere(&before[next_b], &after[next_a]);
            (b, a) = (next_b + 1, next_a + 1);
        }
        self.gap(&before[b..], &after[a..]);
    }

    /// Pairs of steps that are equal with all that is in them, in the order of both rows.
    fn matches(&mut self, before: &[Shaped<'_>], after: &[Shaped<'_>]) -> Vec<(usize, usize)> {
        let same = |(b, a): &(&Shaped<'_>, &Shaped<'_>)| b.whole == a.whole;
        let head = before.iter().zip(after).take_while(same).count();
        let (rest_b, rest_a) = (&before[head..], &after[head..]);
        let tail = rest_b.iter().rev().zip(rest_a.iter().rev()).take_while(same).count();
        let (middle_b, middle_a) = (&rest_b[..rest_b.len() - tail], &rest_a[..rest_a.len() - tail]);
        let mut matches: Vec<(usize, usize)> = (0..head).map(|index| (index, index)).collect();
        let cells = middle_b.len().saturating_mul(middle_a.len());
        if cells <= self.pairs_left {
            self.pairs_left -= cells;
            let common = longest_common(middle_b, middle_a);
            matches.extend(common.into_iter().map(|(b, a)| (head + b, head + a)));
        }
        let (end_b, end_a) = (before.len() - tail, after.len() - tail);
        matches.extend((0..tail).map(|index| (end_b + index, end_a + index)));
        matches
    }

    /// Steps between two matches: pairs of one decorator changed, the others came or went.
    fn gap(&mut self, before: &[Shaped<'a>], after: &[Shaped<'a>]) {
        // Looking far ahead for every step would be quadratic.
        const AHEAD: usize = 16;
        let mut left = after;
        for b in before {
            let kin = |a: &Shaped<'_>| a.step.node == b.step.node;
            match left.iter().take(AHEAD).position(kin) {
                Some(index) => {
                    left[..index].iter().for_each(|a| self.lone(Change::Added, a.step));
                    self.pair(b, &left[index]);
                    left = &left[index + 1..];
                }
                None => self.lone(Change::Removed, b.step),
            }
        }
        left.iter().for_each(|a| self.lone(Change::Added, a.step));
    }

    fn pair(&mut self, before: &Shaped<'a>, after: &Shaped<'a>) {
        self.one_step(before.step, after.step);
        let around = std::mem::take(&mut self.reselected);
        let is_variant = (before.step, after.step);
        let is_variant = selection::is_same_variant(self.sides, is_variant, &around);
        let mut steering = cause::steering(self.sides.before, before.step);
        steering.extend(cause::steering(self.sides.after, after.step));
        self.around.push(steering);
        if before.own == after.own || is_variant {
            self.elsewhere_alone(before.step, after.step);
        } else if let Some(found) = self.reselected(before.step, after.step) {
            self.reselected = found.iter().filter_map(|one| one.machine.clone()).collect();
            self.found.extend(found);
        } else {
            let (was, is) = (&before.step.path, &after.step.path);
            let moved = if was == is {
                String::new()
            } else {
                format!("; it was `{was}` {}", self.sides.then)
            };
            let words = format!("step `{is}` has changed{moved}");
            let difference = self.changed(before.step, after.step, words);
            self.found.push(difference);
        }
        self.row(&before.block, &after.block);
        self.around.pop();
        self.reselected = around;
    }

    /// The targets of a block that are only on one side, where it is the same otherwise.
    fn reselected(&self, before: &Step, after: &Step) -> Option<Vec<Difference>> {
        let is_block = before.node != Node::Variant;
        is_block.then(|| selection::reselected(self.sides, before, after)).flatten()
    }

    fn one_step(&mut self, before: &Step, after: &Step) {
        self.paths.insert(after.path.clone(), before.path.clone());
    }

    fn lone(&mut self, change: Change, step: &Step) {
        if selection::is_variant_of(step, &self.reselected) {
            return;
        }
        let side = if change == Change::Added { self.sides.now } else { self.sides.then };
        let words = format!("step `{}` exists only {side}", step.path);
        let difference = self.difference(change, step, words);
        self.found.push(difference);
    }

    /// Notes where equal steps have other paths.
    fn elsewhere(&mut self, before: &Shaped<'a>, after: &Shaped<'a>) {
        self.one_step(before.step, after.step);
        self.elsewhere_alone(before.step, after.step);
        for (b, a) in before.block.iter().zip(&after.block) {
            self.elsewhere(b, a);
        }
    }

    fn elsewhere_alone(&mut self, before: &Step, after: &Step) {
        if self.found.is_empty() && head(self.sides.before, before) != head(self.sides.after, after)
        {
            let words = format!("step `{}` was `{}` {}", after.path, before.path, self.sides.then);
            let difference = self.changed(before, after, words);
            self.moved.push(difference);
        }
    }

    fn changed(&self, before: &Step, after: &Step, words: String) -> Difference {
        let was = Some(before.path.clone());
        Difference { was, ..self.difference(Change::Changed, after, words) }
    }

    fn difference(&self, change: Change, step: &Step, words: String) -> Difference {
        let (code, causes) =
            if self.source_differs { (Drift::SourceChanged, Vec::new()) } else { self.steered() };
        let because = cause::because("", &causes);
        Difference {
            change,
            code,
            path: Some(step.path.clone()),
            was: None,
            key: None,
            machine: None,
            before: None,
            after: None,
            causes,
            words: words + &because,
        }
    }

    /// What the nearest construct whose reads changed was steered by; else what the nearest could
    /// have been steered by; else everything that changed.
    fn steered(&self) -> (Drift, Vec<Cause>) {
        for roots in self.around.iter().rev() {
            let causes = self.reads.changed(roots.iter());
            if !causes.is_empty() {
                return (self.reads.code(&causes, roots.iter()), causes);
            }
        }
        if let Some(roots) = self.around.iter().rev().find(|roots| !roots.is_empty()) {
            return (self.reads.code(&[], roots.iter()), Vec::new());
        }
        let causes = self.reads.all_changed();
        (self.reads.code(&causes, std::iter::empty()), causes)
    }
}

/// The longest row of equal steps, as pairs of indices.
fn longest_common(before: &[Shaped<'_>], after: &[Shaped<'_>]) -> Vec<(usize, usize)> {
    let width = after.len() + 1;
    let mut best = vec![0u32; (before.len() + 1) * width];
    for b in (0..before.len()).rev() {
        for a in (0..after.len()).rev() {
            best[b * width + a] = if before[b].whole.0 == after[a].whole.0 {
                best[(b + 1) * width + a + 1] + 1
            } else {
                best[(b + 1) * width + a].max(best[b * width + a + 1])
            };
        }
    }
    let (mut b, mut a, mut pairs) = (0, 0, Vec::new());
    while b < before.len() && a < after.len() {
        if before[b].whole.0 == after[a].whole.0 {
            pairs.push((b, a));
            (b, a) = (b + 1, a + 1);
        } else if best[(b + 1) * width + a] >= best[b * width + a + 1] {
            b += 1;
        } else {
            a += 1;
        }
    }
    pairs
}
