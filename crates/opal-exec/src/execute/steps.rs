//! The steps of a plan: all of them, one by its path, and what can be said of one without running it.

use opal_core::plan::{Arg, Node, Plan, Step};
use opal_core::resolver::Trouble;
use opal_core::shell::{Movement, movement};

use super::values::Values;

/// The decorator whose file can be read at run time.
const READER: &str = "file.read";

/// Every step with what is in and after it.
pub(super) fn walk<'p>(steps: &'p [Step], see: &mut impl FnMut(&'p Step)) {
    for step in steps {
        see(step);
        walk(&step.block, see);
    }
}

/// The step at a path.
pub(super) fn find<'p>(steps: &'p [Step], path: &str) -> Option<&'p Step> {
    steps.iter().find_map(
        |step| {
            if &*step.path == path { Some(step) } else { find(&step.block, path) }
        },
    )
}

/// The path of the `n`th step that has no block, in the order of the plan, from 1.
#[must_use]
pub fn leaf(plan: &Plan, n: usize) -> Option<&str> {
    fn nth<'p>(steps: &'p [Step], left: &mut usize) -> Option<&'p str> {
        for step in steps {
            if let Some(found) = nth(&step.block, left) {
                return Some(found);
            }
            if is_leaf(step) {
                *left = left.checked_sub(1)?;
                if *left == 0 {
                    return Some(&step.path);
                }
            }
        }
        None
    }
    nth(&plan.steps, &mut { n })
}

pub(super) fn is_leaf(step: &Step) -> bool {
    !step.is_construct() && step.block.is_empty()
}

/// Whether the shell that runs the step can do its redirections.
pub(super) fn is_plain(step: &Step) -> bool {
    step.node == Node::Shell && step.arg("shell").is_none()
}

/// The file that a step after `<` names.
pub(super) fn reader(target: &Step) -> Option<&Arg> {
    target.arg("path").filter(|_| target.node.is_decorator(READER))
}

/// What a step does to the directory that it is in.
pub(crate) fn moves(step: &Step, values: Values<'_>) -> Result<Movement, Trouble> {
    match step.command() {
        Some(pieces) if is_plain(step) && step.arg("workdir").is_none() => {
            Ok(movement(&values.script(pieces)?))
        }
        _ => Ok(Movement::Stays),
    }
}
