//! What a reviewer of a plan must not miss: sentences for every view that shows one to be approved.

use std::collections::BTreeMap;

use super::step_text;
use crate::plan::{Arg, Piece, Plan, RedirectTarget, Step, all};

const SCRIPT: &str = "@script";
const CONFIRM: &str = "@confirm";

/// Steps of a plan in which others decide what runs: a shell interprets a value, or another program a text.
/// Each of them is named: one that is only counted can hide among the others. `is_meant` says by the path whether a
/// step is of interest.
#[must_use]
pub fn marks(plan: &Plan, is_meant: &dyn Fn(&str) -> bool) -> Vec<String> {
    let (mut raw, mut scripts) = (Vec::new(), Vec::new());
    for step in all(&plan.steps).filter(|step| is_meant(&step.path)) {
        if has_raw(step) {
            raw.push(&*step.path);
        }
        if step.node.name() == SCRIPT {
            scripts.push(&*step.path);
        }
    }
    let both = [
        (raw, "`@raw` pastes a value into a command, and the shell interprets it"),
        (scripts, "`@script` runs a program in another language, which opal does not check"),
    ];
    let named = both.into_iter().filter(|(paths, _)| !paths.is_empty());
    named.map(|(paths, what)| format!("{what}: {}", paths.join(", "))).collect()
}

/// Questions that one plan asks and a later one does not.
#[must_use]
pub fn removed_questions(before: &Plan, after: &Plan) -> Vec<String> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for question in questions(after) {
        *left.entry(question).or_default() += 1;
    }
    let mut removed = Vec::new();
    for question in questions(before) {
        match left.get_mut(&question).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => removed.push(format!("nobody is asked any more: `{question}` is gone")),
        }
    }
    removed
}

fn questions(plan: &Plan) -> impl Iterator<Item = String> {
    let steps = all(&plan.steps).filter(|step| step.node.name() == CONFIRM);
    steps.map(|step| step_text(plan, step, None))
}

fn has_raw(step: &Step) -> bool {
    let in_target = |target: &RedirectTarget| match target {
        RedirectTarget::Step(step) => has_raw(step),
        RedirectTarget::Shell(pieces) => pieces.iter().any(is_raw),
    };
    step.args.iter().any(|(_, arg)| is_raw_in(arg))
        || step.redirects.iter().any(|redirect| in_target(&redirect.target))
}

fn is_raw_in(arg: &Arg) -> bool {
    match arg {
        Arg::Const(_) | Arg::Handle(_) | Arg::Value(_) | Arg::Deferred(_) => false,
        Arg::Text(pieces) | Arg::Shell(pieces) => pieces.iter().any(is_raw),
        Arg::Array(items) => items.iter().any(is_raw_in),
        Arg::Map(fields) => fields.values().any(is_raw_in),
    }
}

fn is_raw(piece: &Piece) -> bool {
    match piece {
        Piece::Raw(_) => true,
        Piece::Data { arg, .. } => is_raw_in(arg),
        Piece::Text(_) => false,
    }
}
