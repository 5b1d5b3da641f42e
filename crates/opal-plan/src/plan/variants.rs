//! The blocks of fleets: those that are the same for several targets become one.

use opal_core::Value;
use opal_core::crossing::TARGETS;
use opal_core::plan::{Arg, Node, Step};

/// Merges the blocks of all fleets. A fleet whose block is the same for all targets has it without
/// variants.
pub(super) fn merge(steps: &mut [Step]) {
    for step in steps {
        let is_fleet = step.block.first().is_some_and(|first| first.node == Node::Variant);
        if is_fleet {
            step.block = merged(std::mem::take(&mut step.block));
        }
        merge(&mut step.block);
    }
}

fn merged(variants: Vec<Step>) -> Vec<Step> {
    let mut kept: Vec<Step> = Vec::new();
    for variant in variants {
        match kept.iter_mut().find(|other| other.block == variant.block) {
            Some(same) => same.args = joined(same, &variant),
            None => kept.push(variant),
        }
    }
    if let [_] = kept.as_slice() {
        return kept.into_iter().flat_map(|variant| variant.block).collect();
    }
    for (index, variant) in kept.iter_mut().enumerate() {
        variant.path = format!("{}.variant[{index}]", variant.path).into();
    }
    kept
}

fn joined(one: &Step, other: &Step) -> Vec<(std::borrow::Cow<'static, str>, Arg)> {
    let names = |step: &Step| match step.arg(TARGETS) {
        Some(Arg::Const(Value::Array(names))) => names.clone(),
        _ => Vec::new(),
    };
    let all = names(one).into_iter().chain(names(other)).collect();
    vec![(TARGETS.into(), Arg::Const(Value::Array(all)))]
}
