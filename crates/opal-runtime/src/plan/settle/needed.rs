//! What verifying needs: the values of resources, and of what is around them. A command that reads a
//! secret for a step that is not verified is never run.

use std::collections::BTreeSet;

use opal_core::Registry;
use opal_core::plan::{Arg, Piece, Step};
use opal_core::resource;

use super::node;
use crate::plan::Planner;

/// Asks for what is needed. Of the rest only what takes no time is asked for, and no trouble with it
/// stops the plan.
pub(super) fn force(planner: &mut Planner<'_>, steps: &[Step]) {
    let mut needed = BTreeSet::new();
    collect(steps, planner.request.registry, &mut needed);
    let mut rest = Vec::new();
    let mut roots = Vec::new();
    for (index, demand) in planner.demands.iter_mut().enumerate() {
        let is_needed = needed.contains(&(index as u32));
        demand.perhaps |= !is_needed;
        let into = if is_needed { &mut roots } else { &mut rest };
        into.extend(node(&demand.cell));
    }
    planner.graph.force(&roots, planner.probe);
    planner.graph.quick = true;
    planner.graph.force(&rest, planner.probe);
}

/// The demands of resources and of blocks with resources in them; says whether there are any.
fn collect(steps: &[Step], registry: &Registry, into: &mut BTreeSet<u32>) -> bool {
    let mut any = false;
    for step in steps {
        let is_inside = collect(&step.block, registry, into);
        if is_inside || resource::described(step, registry).is_some() {
            step.args.iter().for_each(|(_, arg)| demands(arg, into));
            any = true;
        }
    }
    any
}

fn demands(arg: &Arg, into: &mut BTreeSet<u32>) {
    match arg {
        Arg::Deferred(index) => {
            into.insert(*index);
        }
        Arg::Text(pieces) | Arg::Shell(pieces) => pieces.iter().for_each(|piece| match piece {
            Piece::Text(_) => {}
            Piece::Data { arg, .. } | Piece::Raw(arg) => demands(arg, into),
        }),
        Arg::Array(items) => items.iter().for_each(|item| demands(item, into)),
        Arg::Map(fields) => fields.values().for_each(|field| demands(field, into)),
        Arg::Const(_) | Arg::Value(_) | Arg::Handle(_) => {}
    }
}
