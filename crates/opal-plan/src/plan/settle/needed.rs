//! What verifying, or applying a selection, needs: the values of resources, and of what is around them. A
//! command that reads a secret for a step that is neither verified nor applied is never run.
//!
//! A selected resource needs its prerequisites too: they are verified, whether they are selected or not.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::plan::{Arg, Piece, RedirectTarget, Step, all};
use opal_core::{Data, Registry, Secret, Value, resource};

use crate::plan::graph::Cell;
use crate::plan::planner::Planner;
use crate::plan::request::Purpose;
use opal_core::gather::Gather as _;
use opal_core::selection::Named;

/// Asks for what is needed. Of the rest only what takes no time is asked for, and no trouble with it
/// stops the plan.
pub(super) fn force(planner: &mut Planner<'_>, steps: &[Step]) {
    let request = planner.request;
    let selected = match request.selection.is_all() {
        true => None,
        false => Some(selected(planner, steps)),
    };
    let wanted = Wanted {
        registry: request.registry,
        selected: selected.as_ref(),
        is_run: request.purpose != Purpose::Verify,
    };
    let mut needed = BTreeSet::new();
    wanted.collect(steps, &mut needed);
    let mut rest = Vec::new();
    let mut roots = Vec::new();
    for (index, demand) in planner.demands.iter_mut().enumerate() {
        let is_needed = needed.contains(&(index as u32));
        demand.perhaps |= !is_needed;
        let into = if is_needed { &mut roots } else { &mut rest };
        into.extend(demand.cell.node());
    }
    planner.graph.force(&roots, planner.probe);
    planner.graph.quick = true;
    planner.graph.force(&rest, planner.probe);
}

/// The paths of the selected resources and of all that they depend on. What they are called, and what
/// they depend on, is asked for first. A name that none has selects nothing: it is an error later.
fn selected(planner: &mut Planner<'_>, steps: &[Step]) -> BTreeSet<Box<str>> {
    let registry = planner.request.registry;
    let described = |step: &&Step| resource::described(step, registry).is_some();
    let resources: Vec<&Step> = all(steps).filter(described).collect();
    let mut names = BTreeSet::new();
    for step in &resources {
        let args = ["id", "depends_on"].into_iter().filter_map(|name| step.arg(name));
        args.for_each(|arg| demands(arg, &mut names));
    }
    let cells = names.iter().map(|&index| &planner.demands[index as usize].cell);
    let roots: Vec<u32> = cells.filter_map(Cell::node).collect();
    planner.graph.force(&roots, planner.probe);
    let texts = |step: &Step, name: &str| -> Vec<Secret> {
        step.arg(name).map(|arg| texts(planner, arg)).unwrap_or_default()
    };
    let named =
        |step: &&Step| Named { path: step.path.clone(), id: texts(step, "id").into_iter().next() };
    let all: Vec<Named> = resources.iter().map(named).collect();
    let ids: BTreeMap<&str, usize> =
        (all.iter().enumerate()).filter_map(|(index, named)| Some((named.id()?, index))).gathered();
    let chosen = planner.request.selection.choose(&all).unwrap_or_default();
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = chosen.into_iter().collect();
    while let Some(index) = open.pop() {
        if found.insert(all[index].path.clone()) {
            let before = texts(resources[index], "depends_on");
            open.extend(before.iter().filter_map(|id| ids.get(id.expose())));
        }
    }
    found
}

/// The texts of an argument that has been asked for.
fn texts(planner: &Planner<'_>, arg: &Arg) -> Vec<Secret> {
    fn of_data(data: &Data) -> Vec<Secret> {
        match data {
            Data::Array(items) => items.iter().flat_map(of_data).collect(),
            data => data.as_text().map(Secret::new).into_iter().collect(),
        }
    }
    match arg {
        Arg::Const(value @ (Value::String(_) | Value::Array(_))) => of_data(&value.into()),
        Arg::Array(items) => items.iter().flat_map(|item| texts(planner, item)).collect(),
        Arg::Deferred(index) => {
            let known = planner.graph.known(&planner.demands[*index as usize].cell);
            known.and_then(|datum| datum.to_data()).map(|data| of_data(&data)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Which steps need their values.
struct Wanted<'w> {
    registry: &'w Registry,
    /// The resources that count; none for all.
    selected: Option<&'w BTreeSet<Box<str>>>,
    /// Whether blocks are entered, whatever is in them.
    is_run: bool,
}

impl Wanted<'_> {
    /// The demands of resources and of blocks with resources in them; says whether there are any.
    fn collect(&self, steps: &[Step], into: &mut BTreeSet<u32>) -> bool {
        let mut any = false;
        for step in steps {
            let is_required = self.is_required(step);
            let is_inside = self.collect(&step.block, into);
            let is_entered = self.is_run && !step.block.is_empty();
            if is_inside || is_entered || is_required {
                step.args.iter().for_each(|(_, arg)| demands(arg, into));
                any = true;
            }
            if is_required {
                // What a block does is part of the resource.
                all(&step.block).for_each(|inner| step_demands(inner, into));
            }
        }
        any
    }

    fn is_required(&self, step: &Step) -> bool {
        resource::described(step, self.registry).is_some()
            && self.selected.is_none_or(|selected| selected.contains(&step.path))
    }
}

fn step_demands(step: &Step, into: &mut BTreeSet<u32>) {
    step.args.iter().for_each(|(_, arg)| demands(arg, into));
    for redirect in &step.redirects {
        match &redirect.target {
            RedirectTarget::Step(target) => step_demands(target, into),
            RedirectTarget::Shell(pieces) => piece_demands(pieces, into),
        }
    }
}

fn piece_demands(pieces: &[Piece], into: &mut BTreeSet<u32>) {
    for piece in pieces {
        if let Piece::Data { arg, .. } | Piece::Raw(arg) = piece {
            demands(arg, into);
        }
    }
}

fn demands(arg: &Arg, into: &mut BTreeSet<u32>) {
    match arg {
        Arg::Deferred(index) => {
            into.insert(*index);
        }
        Arg::Text(pieces) | Arg::Shell(pieces) => piece_demands(pieces, into),
        Arg::Array(items) => items.iter().for_each(|item| demands(item, into)),
        Arg::Map(fields) => fields.values().for_each(|field| demands(field, into)),
        Arg::Const(_) | Arg::Value(_) | Arg::Handle(_) => {}
    }
}
