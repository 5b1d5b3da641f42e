//! Whether a run can begin in the middle of its plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use opal_core::Data;
use opal_core::plan::{ChainOperator, Key, Node, Plan, Step};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::unready::Unready;

use super::from::{Before, From, moves};
use super::handles::handles;
use super::prepare::{unready, walk, whole};
use super::values::{Values, is_open};
use opal_core::shell::Movement;

/// Whether a run of the plan can begin at `path`.
#[must_use]
pub fn can_begin(plan: &Plan, values: &BTreeMap<Key, Data>, path: &str) -> bool {
    begins(plan, values, path).is_empty()
}

/// Why a run cannot begin at `path`.
pub(super) fn begins(plan: &Plan, values: &BTreeMap<Key, Data>, path: &str) -> Vec<Unready> {
    let from = From::new(plan, Some(path));
    if !from.is_found() {
        let message = format!("the plan has no step `{path}`");
        let help = "`opal plan --json` lists the paths, and `step:N` counts the steps from 1";
        let trouble = Trouble::new(TroubleKind::Missing, message, help);
        return vec![whole(trouble)];
    }
    let values = Values { known: values, lets: None };
    let mut found = Vec::new();
    let mut bound = BTreeMap::new();
    for before in from.before() {
        found.extend(stays(before, &from, values));
        walk(std::slice::from_ref(before.step), &mut |step| {
            if let Some(binding) = &step.binding {
                bound.insert(binding.id.clone(), step);
            }
        });
    }
    let mut needed = BTreeSet::new();
    used(&plan.steps, &from, &mut needed);
    for (id, step) in bound {
        if let (true, Some(binding)) = (needed.contains(&id), &step.binding) {
            let message = format!(
                "`let.{}` is needed, and the step that binds it, `{}`, would be skipped",
                binding.name, step.path
            );
            found.push(unready(step, message, "begin at that step, or before it"));
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
            let message = "the run cannot begin behind a pipe: what it reads would be missing";
            let help = format!("begin at `{}`", chain.path);
            return vec![unready(step, message, help)];
        }
    }
    // The directory of a body ends with it.
    if parent.is_some_and(|parent| parent.node == Node::Try) && leaves_body(parent, from) {
        return Vec::new();
    }
    let operands = match step.node {
        Node::Chain => step.block.as_slice(),
        _ => std::slice::from_ref(step),
    };
    let wanders = |step: &&Step| match moves(step, values) {
        Ok(Movement::May) => true,
        // Where to is not known without the steps before it.
        Ok(Movement::Only(_)) => step.args.iter().any(|(_, arg)| is_open(arg)),
        _ => false,
    };
    let say = |step: &Step| {
        let message = format!("`{}` would be skipped, and it may change the directory", step.path);
        unready(step, message, "begin before it, or give the `cd` a step of its own")
    };
    operands.iter().filter(wanders).map(say).collect()
}

fn leaves_body(parent: Option<&Step>, from: &From<'_>) -> bool {
    let clauses = parent.map_or(&[][..], |parent| &parent.block).iter();
    let mut clauses = clauses.filter(|step| matches!(step.node, Node::Catch | Node::Finally));
    clauses.any(|clause| from.is_inside(clause))
}
