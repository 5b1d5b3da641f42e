//! Where steps are in their source.

use opal_core::plan::Step;
use opal_ops::source::Loaded;

use crate::ambient::Ambient;

/// The file of a step, as the workflow around opal knows it, and the line from 1.
pub(super) fn place(step: &Step, loaded: &Loaded, ambient: &Ambient) -> (String, u32) {
    let file = loaded.file_at(step.span.start);
    (ambient.in_workspace(file.path), loaded.line(step.span.start).1)
}
