//! How resources are ordered: one after the other, or in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use opal_core::cycles::cycles;
use opal_core::gather::Gather as _;
use opal_core::plan::{self, Arg, Step};
use opal_core::resolver::{Input, Inputs};
use opal_core::resource::described;
use opal_core::{Registry, Value};

use super::Node;

#[derive(Clone, Debug)]
pub(super) struct Place {
    /// In the order of the plan.
    number: usize,
    /// Each `@parallel` around it and its branch there, from the outermost on.
    branches: Rc<[(usize, usize)]>,
    /// It is in a part that may not be run, or not once.
    pub(super) is_open: bool,
    /// The path of what it is in.
    pub(super) around: Rc<str>,
    /// The directory of the imported project that it is in.
    pub(super) directory: Option<Rc<str>>,
    /// The names of the targets that it is on; none on opal's machine.
    pub(super) targets: Option<Rc<str>>,
    /// Whether each of them is one of a fleet.
    pub(super) is_member: bool,
}

impl Place {
    /// The `@parallel` that runs two of them in parallel, with their branches there.
    pub(super) fn beside(&self, other: &Self) -> Option<(usize, usize, usize)> {
        let mut pairs = self.branches.iter().zip(&*other.branches);
        let ((parallel, branch), (same, theirs)) = pairs.find(|(a, b)| a != b)?;
        (parallel == same).then_some((*parallel, *branch, *theirs))
    }

    /// Whether it comes before what it depends on.
    pub(super) fn waits_in_vain(&self, before: &Self) -> bool {
        self.number < before.number && self.beside(before).is_none()
    }
}

/// Every resource, in the order of the plan.
pub(super) fn nodes<'p>(steps: &'p [Step], registry: &Registry) -> Vec<Node<'p>> {
    let mut walk = Walk { registry, nodes: Vec::new(), parallels: 0 };
    let (branches, around): (Rc<[_]>, Rc<str>) = (Rc::new([]), "".into());
    let (directory, targets) = (None, None);
    let (is_open, is_member) = (false, false);
    let here = Surroundings { branches, is_open, around, directory, targets, is_member };
    walk.block(steps, &here);
    walk.nodes
}

struct Walk<'r, 'p> {
    registry: &'r Registry,
    nodes: Vec<Node<'p>>,
    parallels: usize,
}

#[derive(Clone)]
struct Surroundings {
    branches: Rc<[(usize, usize)]>,
    is_open: bool,
    around: Rc<str>,
    directory: Option<Rc<str>>,
    targets: Option<Rc<str>>,
    is_member: bool,
}

impl<'p> Walk<'_, 'p> {
    fn block(&mut self, steps: &'p [Step], here: &Surroundings) {
        for step in steps {
            if let Some(described) = described(step, self.registry) {
                let number = self.nodes.len();
                let Surroundings { branches, is_open, around, directory, targets, is_member } =
                    here.clone();
                let place =
                    Place { number, branches, is_open, around, directory, targets, is_member };
                self.nodes.push(Node { step, described, place });
            }
            if step.block.is_empty() {
                continue;
            }
            let is_undecided = matches!(step.arg("undecided"), Some(Arg::Const(Value::Bool(true))));
            let around: Rc<str> =
                if step.is_construct() { Rc::clone(&here.around) } else { (&*step.path).into() };
            let is_open = here.is_open || is_undecided;
            let branches = Rc::clone(&here.branches);
            let directory = project(step).map(Rc::from).or_else(|| here.directory.clone());
            let targets = targets(step, here.targets.as_deref());
            let targets = targets.or_else(|| here.targets.clone());
            let is_member = here.is_member || self.is_fleet(step);
            let inner = Surroundings { branches, is_open, around, directory, targets, is_member };
            if step.node.is_decorator("parallel") {
                self.parallel(&step.block, &inner);
            } else {
                self.block(&step.block, &inner);
            }
        }
    }

    /// Whether the targets of a block are a fleet, as far as that is known.
    fn is_fleet(&self, step: &Step) -> bool {
        let descriptor = step.node.path().and_then(|path| self.registry.get(path));
        let Some((descriptor, boundary)) = descriptor.and_then(|it| Some((it, it.boundary?)))
        else {
            return false;
        };
        let mut inputs = Inputs::default();
        for (name, arg) in &step.args {
            if let (Some(param), Arg::Const(value)) = (descriptor.param(name), arg) {
                inputs.args.insert(param.name, Input::Data(value.into()));
            }
        }
        boundary.is_fleet(&inputs)
    }

    fn parallel(&mut self, block: &'p [Step], here: &Surroundings) {
        self.parallels += 1;
        let (number, mut all) = (self.parallels, Vec::new());
        branches(block, &mut all);
        for (branch, steps) in all.into_iter().enumerate() {
            let branches = here.branches.iter().copied().chain([(number, branch)]).collect();
            self.block(steps, &Surroundings { branches, ..here.clone() });
        }
    }
}

/// The targets that the block of a step is on, after those around it.
fn targets(step: &Step, around: Option<&str>) -> Option<Rc<str>> {
    let names: Vec<&str> = step.targets().collect();
    let names = names.join(" ");
    (!names.is_empty()).then(|| format!("{}/{names}", around.unwrap_or_default()).into())
}

/// The directory of the imported project that a call enters.
fn project(step: &Step) -> Option<&str> {
    match step.arg("directory") {
        Some(Arg::Const(Value::String(directory))) if is_call(&step.node) => Some(directory),
        _ => None,
    }
}

fn is_call(node: &plan::Node) -> bool {
    matches!(node, plan::Node::Call | plan::Node::Dependency)
}

/// As they run: every round of a loop is a branch.
fn branches<'p>(block: &'p [Step], into: &mut Vec<&'p [Step]>) {
    for step in block {
        match step.node {
            plan::Node::For | plan::Node::While => branches(&step.block, into),
            _ => into.push(std::slice::from_ref(step)),
        }
    }
}

/// Branches of one `@parallel` that wait for each other: for each branch the resource that waits.
#[derive(Debug)]
pub(super) struct BranchCycle {
    pub(super) resources: Vec<usize>,
    /// Where it has more of them than a message can name.
    pub(super) is_longer: bool,
}

/// Cycles among branches. Each branch is named in one cycle at most.
pub(super) fn branch_cycles(places: &[&Place], edges: &[(usize, usize)]) -> Vec<BranchCycle> {
    // By `@parallel` and branch: the branches it waits for, each with a resource that does.
    let mut waits: BTreeMap<(usize, usize), BTreeMap<(usize, usize), usize>> = BTreeMap::new();
    for &(index, other) in edges {
        if let Some((parallel, branch, theirs)) = places[index].beside(places[other]) {
            let waits = waits.entry((parallel, branch)).or_default();
            waits.entry((parallel, theirs)).or_insert(index);
        }
    }
    let numbers: BTreeMap<(usize, usize), usize> = waits.keys().copied().zip(0..).gathered();
    let known = |(branch, index): (&(usize, usize), &usize)| Some((*numbers.get(branch)?, *index));
    let edges: Vec<Vec<(usize, usize)>> =
        waits.values().map(|after| after.iter().filter_map(known).collect()).collect();
    let mut named: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    for cycle in cycles(&edges) {
        if cycle.nodes().iter().any(|branch| named.contains(branch)) {
            continue;
        }
        named.extend(cycle.nodes());
        let next = cycle.nodes().iter().cycle().skip(1);
        let pairs = cycle.nodes().iter().zip(next);
        let waiting = pairs.map(|(branch, next)| {
            let edge = edges[*branch].iter().find(|(to, _)| to == next);
            edge.or(edges[*branch].first()).map_or(0, |(_, resource)| *resource)
        });
        found.push(BranchCycle { resources: waiting.collect(), is_longer: cycle.is_longer() });
    }
    found
}
