//! What the block of a resource does: its steps, and the values that they use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use opal_core::contract::block_form;
use opal_core::plan::{Arg, Plan, Step, all};
use opal_core::resolver::{Identity, Trouble};

use super::handles::references;
use super::values::Values;

/// Of a block that starts in `directory`. Every value that it uses must be known.
pub(crate) fn identity(
    plan: &Plan,
    step: &Step,
    values: Values<'_>,
    directory: &Path,
) -> Result<Identity, Trouble> {
    let mut used = BTreeMap::new();
    for arg in from_outside(step) {
        let key = match arg {
            Arg::Value(key) => key.to_string(),
            Arg::Handle(handle) => format!("let.{} {:?}", handle.name, handle.access),
            _ => continue,
        };
        used.insert(key, values.data(arg)?);
    }
    let (steps, directory) = (block_form(plan, &step.block), directory.to_owned());
    Ok(Identity { steps, values: used, directory })
}

/// Why the values of a block are not known before it runs, where they are not.
pub(crate) fn unknown_values(step: &Step) -> Option<&'static str> {
    let used = from_outside(step);
    if used.iter().any(|arg| matches!(arg, Arg::Handle(_))) {
        return Some("its block uses a run-time value");
    }
    let is_open = all(&step.block).any(Step::is_left_open)
        || used.iter().any(|arg| matches!(arg, Arg::Deferred(_)));
    is_open.then_some("its block uses a value that a quick plan does not resolve")
}

/// The values that a block uses and does not bind itself.
fn from_outside(step: &Step) -> Vec<&Arg> {
    let bound = all(&step.block).filter_map(|inner| inner.binding.as_ref());
    let bound: BTreeSet<&str> = bound.map(|binding| &*binding.id).collect();
    let mut found = Vec::new();
    for inner in all(&step.block) {
        references(inner, &mut |arg| {
            let is_own = matches!(arg, Arg::Handle(handle) if bound.contains(&*handle.id));
            found.extend((!is_own).then_some(arg));
        });
    }
    found
}
