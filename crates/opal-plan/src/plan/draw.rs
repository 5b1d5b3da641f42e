//! Random values: drawn when the structure of the plan is known.
//!
//! Their keys are in the structure, their values are not, so the structure's hash can be part of
//! what they are derived from.

use std::collections::BTreeMap;
use std::rc::Rc;

use opal_core::Diagnostic;
use opal_core::contract::plan_hash;
use opal_core::hash::Digest;
use opal_core::keys::{Draw, Keys};
use opal_core::placeholder::PlaceholderKey;

use super::call;
use super::datum::{Datum, Open, Plain};
use super::demand::fits;
use super::graph::{Op, State};
use super::planner::Planner;
use super::request::{Resolved, Unplanned};
use super::showing::Maker;

/// Where a random value is used first.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) node: u32,
    pub(super) path: Box<str>,
}

pub(super) fn draw(
    planner: &mut Planner<'_>,
    resolved: &mut Resolved,
    sites: Vec<Site>,
    keys: &mut dyn Keys,
    key: &PlaceholderKey,
) -> Result<(), Unplanned> {
    let hash = plan_hash(&resolved.plan);
    let mut counters: BTreeMap<(Box<str>, &str), u32> = BTreeMap::new();
    for site in sites {
        let datum = generate(planner, &site, &hash, &mut counters, keys)?;
        planner.graph.generated.insert(site.node, datum);
    }
    reopen(planner);
    let roots: Vec<u32> = planner.demands.iter().filter_map(|demand| demand.cell.node()).collect();
    planner.graph.force(&roots, planner.probe);
    fill(planner, resolved, key);
    if planner.errors.is_empty() {
        return Ok(());
    }
    let errors = std::mem::take(&mut planner.errors);
    Err(Unplanned::Errors(errors.into_iter().map(|error| (*error).clone()).collect()))
}

fn generate(
    planner: &Planner<'_>,
    site: &Site,
    hash: &Digest,
    counters: &mut BTreeMap<(Box<str>, &'static str), u32>,
    keys: &mut dyn Keys,
) -> Result<Datum, Unplanned> {
    let wrong = |found: Diagnostic| Unplanned::Errors(vec![found]);
    let graph_node = &planner.graph.nodes[site.node as usize];
    let (Op::Call(shape), State::Done(open)) = (&graph_node.op, &graph_node.state) else {
        unreachable!("a site is a generator that has been evaluated");
    };
    let values: Vec<&Datum> =
        graph_node.operands.iter().filter_map(|cell| planner.graph.known(cell)).collect();
    let inputs = shape.inputs(&values).map_err(wrong)?;
    let descriptor = shape.descriptor();
    let count = counters.entry((site.path.clone(), descriptor.path)).or_insert(0);
    let draw = Draw {
        decorator: descriptor,
        inputs: &inputs,
        plan_hash: hash,
        path: &site.path,
        counter: *count,
    };
    *count += 1;
    let mut stream = keys.draw(&draw).map_err(Unplanned::Key)?;
    let generator = descriptor.generator.expect("only generators are drawn");
    let data = generator
        .generate(&inputs, stream.as_mut())
        .map_err(|found| wrong(call::trouble(found, graph_node.span)))?;
    let plain = Plain::try_from(data)
        .map_err(|large| wrong(super::graph::diagnostic(large.into(), graph_node.span)))?;
    Ok(Datum::new(plain, open.taint.clone()))
}

/// What waited for a random value is evaluated again.
fn reopen(planner: &mut Planner<'_>) {
    for node in &mut planner.graph.nodes {
        if let State::Done(datum) = &node.state
            && datum.open() == Some(Open::Late)
        {
            node.state = State::Waiting;
        }
    }
}

/// Puts the values that are known now into the plan and beside it.
fn fill(planner: &mut Planner<'_>, resolved: &mut Resolved, key: &PlaceholderKey) {
    let algorithm = resolved.plan.algorithm;
    for demand in &planner.demands {
        let datum = match planner.graph.outcome(&demand.cell) {
            Ok(datum) => datum,
            Err(error) => {
                planner.errors.push(error);
                continue;
            }
        };
        if let Err(error) = fits(&demand.purpose, &datum, demand.span) {
            planner.errors.push(Rc::new(error));
        }
        let mut parts = Vec::new();
        named(&datum, &mut parts);
        for part in parts {
            let (Some(taint), Some(data)) = (&part.taint, part.to_data()) else { continue };
            if taint.randoms.is_empty() {
                continue;
            }
            if let Some(value) = resolved.plan.values.get_mut(&taint.key) {
                value.placeholder = key.placeholder(algorithm, &taint.key, &data);
                let maker = Maker { key, algorithm };
                maker.add(&mut resolved.showing, &taint.key, part, taint);
                resolved.secrets.insert(taint.key.clone(), data);
            }
        }
    }
}

/// The parts of a value that have a key of their own.
fn named<'d>(datum: &'d Datum, into: &mut Vec<&'d Datum>) {
    if datum.taint.is_some() {
        into.push(datum);
        return;
    }
    match &datum.plain {
        Plain::Array(list) => list.items.iter().for_each(|item| named(item, into)),
        Plain::Map(fields) => fields.items.values().for_each(|item| named(item, into)),
        Plain::Joined(list) => list.items.iter().for_each(|part| named(part, into)),
        _ => {}
    }
}
