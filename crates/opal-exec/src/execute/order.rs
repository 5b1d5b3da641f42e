//! The places of the steps of a fleet.
//!
//! Targets may have different variants of the block, in which the same steps have the same paths. The order
//! of all is that of the first variant, with what only others have after the step that it follows there.

use std::collections::BTreeMap;

use opal_core::plan::{Node, Step};

#[derive(Default)]
struct Order<'p> {
    /// Each path, and which follows it.
    row: Vec<(&'p str, Option<usize>)>,
    index: BTreeMap<&'p str, usize>,
    /// The steps of pipelines, with the path of the pipeline.
    of_chain: BTreeMap<&'p str, &'p str>,
}

/// The place of each step. All of a pipeline have one place: its steps run at the same time.
pub(super) fn places(block: &[Step]) -> BTreeMap<&str, usize> {
    let mut order = Order::default();
    let is_variant = |step: &Step| step.node == Node::Variant;
    if block.iter().all(is_variant) {
        block.iter().for_each(|variant| order.merge(&variant.block));
    } else {
        order.merge(block);
    }
    let mut next = (!order.row.is_empty()).then_some(0);
    let mut places = BTreeMap::new();
    while let Some((path, after)) = next.and_then(|at| order.row.get(at)) {
        places.insert(*path, places.len());
        next = *after;
    }
    for (path, chain) in order.of_chain {
        places.extend(places.get(chain).copied().map(|place| (path, place)));
    }
    places
}

impl<'p> Order<'p> {
    /// The first of the first variant is always the first.
    fn merge(&mut self, block: &'p [Step]) {
        let mut last = None;
        block.iter().for_each(|step| self.step(step, &mut last));
    }

    fn step(&mut self, step: &'p Step, last: &mut Option<usize>) {
        let index = match self.index.get(&*step.path) {
            Some(&index) => index,
            None => self.insert(&step.path, *last),
        };
        *last = Some(index);
        if step.node == Node::Chain {
            let inner = opal_core::plan::all(&step.block);
            self.of_chain.extend(inner.map(|inner| (&*inner.path, &*step.path)));
        } else {
            step.block.iter().for_each(|inner| self.step(inner, last));
        }
    }

    fn insert(&mut self, path: &'p str, after: Option<usize>) -> usize {
        let index = self.row.len();
        // Without one before it, it comes after the first of all.
        let before = after.or((index > 0).then_some(0)).and_then(|it| self.row.get_mut(it));
        let next = before.and_then(|before| before.1.replace(index));
        self.row.push((path, next));
        self.index.insert(path, index);
        index
    }
}

#[cfg(test)]
mod tests {
    use opal_core::Span;

    use super::*;

    fn step(path: &str, node: Node, block: Vec<Step>) -> Step {
        Step { block, ..Step::new(node, path, Span::at(0)) }
    }

    fn shell(path: &str) -> Step {
        step(path, Node::Shell, Vec::new())
    }

    #[test]
    fn variants_have_one_order_and_a_pipeline_one_place() {
        let first = vec![shell("a"), shell("c"), shell("e")];
        let second = vec![shell("a"), step("b", Node::If, vec![shell("b.x")]), shell("c")];
        let pipe = step("d", Node::Chain, vec![shell("d.x"), shell("d.y")]);
        let third = vec![shell("c"), pipe, shell("e")];
        let variants = [first, second, third].map(|block| step("v", Node::Variant, block));
        let places = places(&variants);
        let mut order: Vec<&str> = places.keys().copied().collect();
        order.sort_by_key(|path| places[path]);
        assert_eq!(order, ["a", "b", "b.x", "c", "d", "d.x", "d.y", "e"]);
        assert!(places["d"] == places["d.x"] && places["d"] == places["d.y"]);
    }
}
