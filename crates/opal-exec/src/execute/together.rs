//! What a run is taken up with, when it did not come to its end.

use opal_core::plan::{ChainOperator, Plan, Step};

/// Where a run can be taken up that ended at `path`: there, or at the outermost thing around it
/// that is right only as a whole. None where the plan has no such step.
///
/// | around it | in part |
/// |---|---|
/// | `@parallel` | branches before it that were stopped would be left out |
/// | a pipe | what stands before it would write nothing |
/// | a block that is redirected | the file would have no beginning, or be read from it again |
#[must_use]
pub fn together<'p>(plan: &'p Plan, path: &str) -> Option<&'p str> {
    plan.steps.iter().find_map(|step| whole(step, path)).map(|step| &*step.path)
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
