//! What can be said of a step without running it.

use opal_core::plan::{Arg, Node, Plan, Step};
use opal_core::resolver::Trouble;
use opal_core::shell::{Movement, movement};

use super::values::Values;

/// The decorator whose file can be read at run time.
const READER: &str = "file.read";

/// The path of the `n`th step that has no block, in the order of the plan, from 1.
#[must_use]
pub fn leaf(plan: &Plan, n: usize) -> Option<&str> {
    plan.all_steps().filter(|step| step.is_leaf()).nth(n.checked_sub(1)?).map(|step| &*step.path)
}

/// Whether the shell that runs the step can do its redirections.
pub(super) fn is_plain(step: &Step) -> bool {
    let is_command = step.node == Node::Shell && step.arg("shell").is_none();
    is_command || step.node.is_decorator("script")
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
