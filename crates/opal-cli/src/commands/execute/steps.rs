//! Steps of a plan, and where they are in its source.

use opal_core::plan::{Plan, Step};

/// By its path.
pub(super) fn find<'p>(plan: &'p Plan, path: &str) -> Option<&'p Step> {
    let mut open: Vec<&Step> = plan.steps.iter().collect();
    while let Some(step) = open.pop() {
        if &*step.path == path {
            return Some(step);
        }
        open.extend(&step.block);
    }
    None
}

/// The line of a step, from 1.
pub(super) fn line(text: &str, step: &Step) -> Option<u32> {
    let before = text.get(..step.span.range().start)?;
    u32::try_from(before.matches('\n').count() + 1).ok()
}
