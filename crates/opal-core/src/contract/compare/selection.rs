//! Blocks that have other targets and are the same otherwise: an inventory has changed, not the steps.

use std::collections::BTreeSet;

use super::{Change, Difference, Drift, Sides};
use crate::contract::wire_v1::shape;
use crate::crossing::TARGETS;
use crate::plan::{Arg, Node, Plan, Step};
use crate::value::Value;

/// The targets of a block that are only on one side, where nothing else of its head differs.
pub(super) fn reselected(
    sides: &Sides<'_>,
    before: &Step,
    after: &Step,
) -> Option<Vec<Difference>> {
    let [had, has] = alike(sides, before, after)?;
    let words = format!("it is selected {}, and no longer {}", sides.then, sides.now);
    let gone = had.difference(&has);
    let gone = gone.map(|name| Difference::of_machine(Drift::InfraMissing, name, words.clone()));
    let new = has.difference(&had).map(|name| Difference::of_new_machine(name));
    Some(gone.chain(new).collect())
}

/// Whether a variant differs only in targets that its block has on one side only.
pub(super) fn is_same_variant(
    sides: &Sides<'_>,
    (before, after): (&Step, &Step),
    reselected: &BTreeSet<Box<str>>,
) -> bool {
    let Some([had, has]) = alike(sides, before, after) else { return false };
    before.node == Node::Variant
        && had.symmetric_difference(&has).all(|name| reselected.contains(*name))
}

/// Whether a variant is only for targets that its block has on one side only.
pub(super) fn is_variant_of(step: &Step, reselected: &BTreeSet<Box<str>>) -> bool {
    step.node == Node::Variant && step.targets().all(|name| reselected.contains(name))
}

/// The names of the targets of two steps, where nothing else of their heads differs, and the targets of
/// both are the same, in the same order.
fn alike<'s>(
    sides: &Sides<'_>,
    before: &'s Step,
    after: &'s Step,
) -> Option<[BTreeSet<&'s str>; 2]> {
    let bare = |plan: &Plan, step: &Step| {
        let mut bare = Step { block: Vec::new(), ..step.clone() };
        bare.args.retain(|(name, _)| name != TARGETS);
        shape(plan, &bare)
    };
    let (then, now) = (targets(before)?, targets(after)?);
    if bare(sides.before, before) != bare(sides.after, after) {
        return None;
    }
    let [had, has] = [before, after].map(|step| step.targets().collect::<BTreeSet<_>>());
    let common = |step: &Step, all: &[Value]| -> Vec<Value> {
        let named = step.targets().zip(all);
        let both = named.filter(|(name, _)| had.contains(name) && has.contains(name));
        both.map(|(_, target)| target.clone()).collect()
    };
    (common(before, then) == common(after, now)).then_some([had, has])
}

fn targets(step: &Step) -> Option<&[Value]> {
    match step.arg(TARGETS) {
        Some(Arg::Const(Value::Array(targets))) => Some(targets),
        _ => None,
    }
}

/// Takes out the values of targets that are only on one side: that they are is said already.
pub(super) fn without_values(differences: &mut Vec<Difference>) {
    let machines: Vec<String> =
        differences.iter().filter_map(|it| Some(format!("{}/", it.machine.as_deref()?))).collect();
    if machines.is_empty() {
        return;
    }
    differences.retain(|it| {
        let is_of = |key: &str| machines.iter().any(|machine| key.starts_with(machine));
        it.change != Change::Value || !it.key.as_deref().is_some_and(is_of)
    });
}
