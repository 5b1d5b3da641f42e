//! A plan whose fleets `--limit` has narrowed, compared with a contract for all targets.

use std::collections::{BTreeMap, BTreeSet};

use super::{Sides, Verdict};
use crate::contract::{Contract, plan_hash};
use crate::crossing::{PLACES, TARGETS};
use crate::gather::Gather as _;
use crate::plan::{Arg, Node, Plan, Step};
use crate::value::Value;

/// Compares what is left. `misses` says of a target that is no longer there whether it would be.
#[must_use]
pub fn compare_limited(
    contract: &Contract,
    fresh: &Plan,
    misses: &dyn Fn(&str) -> bool,
) -> Verdict {
    let fleets = fresh.all_steps().filter(|step| step.arg(PLACES).is_some());
    let fleets: BTreeMap<&str, BTreeSet<&str>> =
        fleets.map(|step| (&*step.path, step.targets().collect())).gathered();
    let keeps = |fleet: &str, target: &str| {
        fleets.get(fleet).is_some_and(|left| left.contains(target)) || misses(target)
    };
    let (mut left_out, mut left) = (BTreeSet::new(), BTreeSet::new());
    for step in contract.plan.all_steps().filter(|step| step.node != Node::Variant) {
        let is_fleet = fleets.contains_key(&*step.path);
        for target in step.targets() {
            let is_left = !is_fleet || keeps(&step.path, target);
            if is_left { &mut left } else { &mut left_out }.insert(target);
        }
    }
    left_out.retain(|target| !left.contains(target));
    let mut before = contract.plan.clone();
    narrow(&mut before.steps, &fleets.keys().copied().collect(), &keeps);
    let is_left = |key: &str| key.split_once('/').is_none_or(|(name, _)| !left_out.contains(name));
    before.values.retain(|key, _| is_left(key));
    before.reads.retain(|read| is_left(&read.key));
    let mut after = fresh.clone();
    without_places(&mut after.steps);
    let is_same = plan_hash(&before) == plan_hash(&after);
    let (then, now) = ("in the contract", "now");
    Sides { before: &before, after: &after, then, now }.verdict(is_same, true)
}

fn narrow(steps: &mut [Step], fleets: &BTreeSet<&str>, keeps: &dyn Fn(&str, &str) -> bool) {
    for step in steps {
        let path = step.path.clone();
        if fleets.contains(&*path) && step.node != Node::Variant {
            let keeps = |target: &str| keeps(&path, target);
            retain(step, &keeps);
            let has_variants = step.block.first().is_some_and(|it| it.node == Node::Variant);
            if has_variants {
                step.block.iter_mut().for_each(|variant| retain(variant, &keeps));
                step.block.retain(|variant| variant.first_target().is_some());
            }
            if step.first_target().is_none() {
                step.block.clear();
            }
            match step.block.as_mut_slice() {
                [only] if has_variants => step.block = std::mem::take(&mut only.block),
                variants if has_variants => {
                    for (index, variant) in variants.iter_mut().enumerate() {
                        variant.path = format!("{path}.variant[{index}]").into();
                    }
                }
                _ => {}
            }
        }
        narrow(&mut step.block, fleets, keeps);
    }
}

fn retain(step: &mut Step, keeps: &dyn Fn(&str) -> bool) {
    let left: BTreeSet<String> =
        step.targets().filter(|target| keeps(target)).map(str::to_owned).collect();
    let arg = step.args.iter_mut().find(|(name, _)| name == TARGETS);
    let Some((_, Arg::Const(Value::Array(targets)))) = arg else { return };
    targets.retain(|target| {
        let name = match target {
            Value::Map(fields) => fields.get("name"),
            name => Some(name),
        };
        matches!(name, Some(Value::String(name)) if left.contains(&**name))
    });
}

fn without_places(steps: &mut [Step]) {
    for step in steps {
        step.args.retain(|(name, _)| name != PLACES);
        without_places(&mut step.block);
    }
}
