//! What a reader of differences has to know besides them.

use std::collections::BTreeSet;

use opal_core::view::{marks, removed_questions};

use super::Comparison;
use super::difference::Steps;

/// What a reader of the differences has to know.
pub(super) fn notes(comparison: &Comparison<'_>) -> Vec<String> {
    let verdict = comparison.verdict;
    let all = [
        (verdict.source_moved, "the source has changed, but gives the same plan"),
        (
            comparison.is_quick,
            "a quick plan: values are not compared, and what only a command can tell is left open",
        ),
        (
            !verdict.values_compared && !comparison.is_quick,
            "the values are not compared: their placeholders have other keys",
        ),
    ];
    let all = all.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.to_owned());
    all.chain(missable(comparison)).collect()
}

/// What a reader of the differences must not miss in them.
pub(super) fn missable(comparison: &Comparison<'_>) -> Vec<String> {
    let steps = Steps::new(comparison);
    let mut paths = BTreeSet::new();
    for one in &comparison.verdict.differences {
        match (one.is_structural(), &one.key) {
            (true, _) => paths.extend(one.path.as_deref()),
            // What a step pastes is other code with another value.
            (false, Some(key)) => paths.extend(steps.now_with(key)),
            (false, None) => {}
        }
    }
    let removed = removed_questions(comparison.before, comparison.after);
    [removed, marks(comparison.after, &|path| paths.contains(path))].concat()
}
