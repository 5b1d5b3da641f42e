//! Where steps are in their source.

use opal_core::plan::Step;

/// The line of a step, from 1.
pub(super) fn line(text: &str, step: &Step) -> Option<u32> {
    let before = text.get(..step.span.range().start)?;
    u32::try_from(before.matches('\n').count() + 1).ok()
}
