//! Where resources stand to each other: one after the other, or side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use opal_core::plan::{self, Arg, Step};
use opal_core::resource::described;
use opal_core::{Registry, Value};

use super::Node;

#[derive(Clone, Debug)]
pub(super) struct Place {
    /// In the order of the plan.
    number: usize,
    /// Each `@parallel` around it and its branch there, from the outermost on.
    branches: Rc<[(usize, usize)]>,
    /// It stands in a part that may not be run, or not once.
    pub(super) is_open: bool,
    /// The path of what it stands in.
    pub(super) around: Rc<str>,
}

impl Place {
    /// The `@parallel` in which two stand side by side, with their branches there.
    fn beside(&self, other: &Self) -> Option<(usize, usize, usize)> {
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
    walk.block(steps, &Surroundings { branches: Rc::new([]), is_open: false, around: "".into() });
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
}

impl<'p> Walk<'_, 'p> {
    fn block(&mut self, steps: &'p [Step], here: &Surroundings) {
        for step in steps {
            if let Some(described) = described(step, self.registry) {
                let Surroundings { branches, is_open, around } = here.clone();
                let place = Place { number: self.nodes.len(), branches, is_open, around };
                self.nodes.push(Node { step, described, place });
            }
            if step.block.is_empty() {
                continue;
            }
            let is_undecided = matches!(step.arg("undecided"), Some(Arg::Const(Value::Bool(true))));
            let around: Rc<str> =
                if step.is_construct() { Rc::clone(&here.around) } else { (&*step.path).into() };
            let is_open = here.is_open || is_undecided;
            let inner = Surroundings { branches: Rc::clone(&here.branches), is_open, around };
            if step.node.is_decorator("parallel") {
                self.parallel(&step.block, &inner);
            } else {
                self.block(&step.block, &inner);
            }
        }
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

/// As they run: every round of a loop is a branch.
fn branches<'p>(block: &'p [Step], into: &mut Vec<&'p [Step]>) {
    for step in block {
        match step.node {
            plan::Node::For | plan::Node::While => branches(&step.block, into),
            _ => into.push(std::slice::from_ref(step)),
        }
    }
}

/// Circles among branches that wait for each other: for each, one resource a branch. Each branch is
/// named in one circle at most.
pub(super) fn circles(places: &[&Place], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    // By `@parallel` and branch: the branches it waits for, each with a resource that does.
    let mut waits: BTreeMap<(usize, usize), BTreeMap<usize, usize>> = BTreeMap::new();
    for &(index, other) in edges {
        if let Some((parallel, branch, theirs)) = places[index].beside(places[other]) {
            waits.entry((parallel, branch)).or_default().entry(theirs).or_insert(index);
        }
    }
    let mut done = BTreeSet::new();
    let mut circles = Vec::new();
    for &start in waits.keys() {
        search(start, &waits, &mut done, &mut circles);
    }
    circles
}

/// Goes deep without recursion: there may be as many branches as a plan has steps.
fn search(
    start: (usize, usize),
    waits: &BTreeMap<(usize, usize), BTreeMap<usize, usize>>,
    done: &mut BTreeSet<(usize, usize)>,
    circles: &mut Vec<Vec<usize>>,
) {
    let parallel = start.0;
    let next = |branch: usize, after: Option<usize>| {
        let behind = waits.get(&(parallel, branch))?;
        let mut behind =
            behind.iter().skip_while(move |(to, _)| after.is_some_and(|it| **to <= it));
        behind.next().map(|(to, index)| (*to, *index))
    };
    // The way from the start: each branch with the one it was left for, and the resource that waits.
    let mut way: Vec<(usize, Option<usize>, usize)> = vec![(start.1, None, 0)];
    while let Some(&(branch, after, _)) = way.last() {
        if done.contains(&(parallel, branch)) {
            way.pop();
            continue;
        }
        let Some((to, index)) = next(branch, after) else {
            done.insert((parallel, branch));
            way.pop();
            continue;
        };
        if let Some(top) = way.last_mut() {
            (top.1, top.2) = (Some(to), index);
        }
        match way.iter().position(|(on_way, ..)| *on_way == to) {
            Some(at) => {
                circles.push(way[at..].iter().map(|(_, _, index)| *index).collect());
                done.extend(way[at..].iter().map(|(branch, ..)| (parallel, *branch)));
            }
            None => way.push((to, None, 0)),
        }
    }
}
