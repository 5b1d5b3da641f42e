//! Whether the resources of a plan go together: what they are called and what they depend on; that no
//! two describe one thing in two ways is in `conflicts.rs`.
//!
//! Values from the world are compared by what they are, and never printed. What a quick plan has left
//! open is not judged.

mod conditional;
mod conflicts;
mod order;

use std::collections::BTreeMap;

use opal_core::plan::{Arg, Key, Piece, Step};
use opal_core::resolver::Probe;
use opal_core::resource::{self, Described};
use opal_core::{Code, Data, Diagnostic, Registry, Value, suggest};

use super::Resolved;
use crate::unit::Block;
use conditional::LeftOut;
use opal_core::gather::Gather as _;
use order::{BranchCycle, Place};

/// Everything that is wrong, in the order of the places. `blocks` are the script and the functions
/// that the plan reaches.
pub(super) fn check(
    resolved: &Resolved,
    blocks: &[&Block],
    registry: &Registry,
    probe: &dyn Probe,
) -> Vec<Diagnostic> {
    let nodes = order::nodes(&resolved.plan.steps, registry);
    if nodes.is_empty() {
        return Vec::new();
    }
    let mut checker = Checker { resolved, blocks, probe, nodes, errors: Vec::new() };
    checker.names();
    checker.dependencies();
    checker.things();
    let mut errors = checker.errors;
    opal_core::diagnostic::sort(&mut errors);
    errors.dedup();
    errors
}

/// A resource, and where it is.
struct Node<'p> {
    step: &'p Step,
    described: Described,
    place: Place,
}

struct Checker<'p> {
    resolved: &'p Resolved,
    blocks: &'p [&'p Block],
    probe: &'p dyn Probe,
    nodes: Vec<Node<'p>>,
    errors: Vec<Diagnostic>,
}

impl<'p> Checker<'p> {
    fn values(&self) -> &'p BTreeMap<Key, Data> {
        &self.resolved.secrets
    }

    fn name(&self, index: usize) -> &'p str {
        resource::name(&self.resolved.plan, self.nodes[index].step)
    }

    /// An id is known before the run, and one step's only.
    fn names(&mut self) {
        for node in &self.nodes {
            for name in ["id", "depends_on"] {
                if node.step.arg(name).is_some_and(is_of_the_run) {
                    let message = format!("`{name}` is a run-time value");
                    let error = Diagnostic::new(Code::LetAtPlanTime, node.step.span, message)
                        .help("the id and the dependencies of a step are part of the plan");
                    self.errors.push(error);
                }
            }
        }
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(id) = resource::id(node.step, self.values()) else { continue };
            let Some(&first) = known.get(id) else {
                known.insert(id, index);
                continue;
            };
            let other = &self.nodes[first];
            if node.place.is_open || other.place.is_open {
                continue;
            }
            let name = self.shown(node.step.arg("id"));
            let message = format!(
                "duplicate resource id {name}: `{}` and `{}`",
                other.step.path, node.step.path
            );
            let error = Diagnostic::new(Code::DuplicateId, node.step.span, message)
                .also(other.step.span, "the other")
                .help("give each its own id; in a loop, include the element in it");
            self.errors.push(error);
        }
    }

    fn dependencies(&mut self) {
        let values = self.values();
        let ids: BTreeMap<&str, usize> = (self.nodes.iter().enumerate().rev())
            .filter_map(|(index, node)| Some((resource::id(node.step, values)?, index)))
            .gathered();
        let mut edges = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            for (at, wanted) in resource::depends_on(node.step, values).into_iter().enumerate() {
                match ids.get(wanted) {
                    Some(&other) => edges.push((index, other)),
                    None if LeftOut::of(self.blocks).may_be(wanted) => {}
                    None => {
                        let error = self.unknown(node.step, at, wanted, &ids);
                        self.errors.push(error);
                    }
                }
            }
        }
        for &(index, other) in &edges {
            let (node, before) = (&self.nodes[index], &self.nodes[other]);
            if index == other {
                self.errors
                    .push(self.cycle(&BranchCycle { resources: vec![index], is_longer: false }));
            } else if node.place.waits_in_vain(&before.place) {
                let (name, wanted) = (self.name(index), self.name(other));
                let message = format!("`{name}` depends on `{wanted}`, which comes after it");
                let error = Diagnostic::new(Code::DependencyOrder, node.step.span, message)
                    .also(before.step.span, "this comes later")
                    .help(format!("move `{wanted}` before it"))
                    .help("inside `@parallel { … }` the order does not matter");
                self.errors.push(error);
            }
        }
        let places: Vec<&Place> = self.nodes.iter().map(|node| &node.place).collect();
        for cycle in order::branch_cycles(&places, &edges) {
            self.errors.push(self.cycle(&cycle));
        }
    }

    /// `a -> b -> a`.
    fn cycle(&self, BranchCycle { resources: around, is_longer }: &BranchCycle) -> Diagnostic {
        let first = around.first().copied().unwrap_or_default();
        let mut names: Vec<&str> = around.iter().map(|&index| self.name(index)).collect();
        names.extend(is_longer.then_some("…"));
        names.push(self.name(first));
        let names = names.join(" -> ");
        let message = format!("dependency cycle between resources: {names}");
        let span = self.nodes[first].step.span;
        let error = Diagnostic::new(Code::DependencyCycle, span, message);
        let others = around.iter().skip(1).map(|&index| self.nodes[index].step.span);
        others
            .fold(error, |error, span| error.also(span, "part of the cycle"))
            .help("remove one of them from a `depends_on`")
    }

    fn unknown(
        &self,
        step: &Step,
        at: usize,
        wanted: &str,
        ids: &BTreeMap<&str, usize>,
    ) -> Diagnostic {
        let item = match step.arg("depends_on") {
            Some(Arg::Array(items)) => self.shown(items.get(at)),
            Some(Arg::Const(_)) => format!("`{wanted}`"),
            given => self.shown(given),
        };
        let is_hidden = item != format!("`{wanted}`");
        let message = format!("unknown dependency: no resource has the id {item}");
        let nearest = suggest::nearest(wanted, ids.keys().copied()).filter(|_| !is_hidden);
        // What is hidden is named by its path.
        let nearest = nearest.and_then(|id| ids.get(id)).map(|&index| self.name(index));
        Diagnostic::new(Code::UnknownDependency, step.span, message).help(match nearest {
            Some(name) => format!("did you mean `{name}`?"),
            None => "set this `id` on the intended resource".to_owned(),
        })
    }

    /// An argument for a message: in clear only where it is in the source.
    fn shown(&self, arg: Option<&Arg>) -> String {
        match arg {
            Some(Arg::Const(Value::String(text))) => format!("`{text}`"),
            Some(Arg::Value(key)) => format!("`{key}`"),
            _ => "it names".to_owned(),
        }
    }
}

/// Whether a part of it is there only when a step has run.
fn is_of_the_run(arg: &Arg) -> bool {
    match arg {
        Arg::Handle(_) => true,
        Arg::Text(pieces) | Arg::Shell(pieces) => pieces.iter().any(|piece| match piece {
            Piece::Text(_) => false,
            Piece::Data { arg, .. } | Piece::Raw(arg) => is_of_the_run(arg),
        }),
        Arg::Array(items) => items.iter().any(is_of_the_run),
        Arg::Map(fields) => fields.values().any(is_of_the_run),
        Arg::Const(_) | Arg::Value(_) | Arg::Deferred(_) => false,
    }
}
