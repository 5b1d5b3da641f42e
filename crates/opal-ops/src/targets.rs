//! The targets of a contract: who answered when it was made, and who answers now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use opal_core::contract::{Change, Contract, Difference, Drift, TargetRecord};
use opal_core::crossing::{PLACES, TARGETS, Target, places, places_of};
use opal_core::gather::Gather as _;
use opal_core::hash::Algorithm;
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{Arg, Node, Plan, Step};
use opal_core::resolver::Trouble;
use opal_core::target::Hop;
use opal_core::{Data, Value};
use opal_exec::verify::{Report, Sighting};
use opal_session::targets::{Contracted, Reach, Refusal, Trust, label, leaves_origin, transport};

const THEN: &str = "in the contract";
const NOW: &str = "now";

/// Whether a plan has a block on another machine or in a container.
#[must_use]
pub fn has_targets(plan: &Plan) -> bool {
    plan.all_steps().flat_map(of_step).any(|target| is_away(&target.hop))
}

fn of_step(step: &Step) -> Vec<Target> {
    match step.arg(TARGETS) {
        Some(Arg::Const(Value::Array(targets))) => {
            targets.iter().filter_map(|target| Target::from_data(&Data::from(target))).collect()
        }
        _ => Vec::new(),
    }
}

fn is_away(hop: &Hop) -> bool {
    !matches!(hop, Hop::Local | Hop::User { .. })
}

/// From now on connections lead only to the targets of the contract.
pub(crate) fn hold(reach: &dyn Reach, contract: &Contract, key: &PlaceholderKey, is_forced: bool) {
    let records = &contract.provenance().targets;
    reach.hold(Trust::Contract(Arc::new(Contracted {
        records: records.iter().map(|it| (it.transport.clone(), it.clone())).gathered(),
        algorithm: contract.plan().algorithm,
        key: key.clone(),
        is_forced,
    })));
}

/// Who answers on the targets of a plan, for its contract. A container or a user that is not there may be
/// made by an earlier step; a machine must answer.
pub fn records(
    report: &Report,
    reach: &dyn Reach,
    algorithm: Algorithm,
    key: &PlaceholderKey,
) -> Result<Vec<TargetRecord>, Trouble> {
    let mut records = Vec::new();
    for sighting in each(report) {
        match (&sighting.trouble, reach.identity(&sighting.way)) {
            (None, Some(found)) => {
                let (name, transport) = (label(&sighting.way), transport(&sighting.way));
                records.push(TargetRecord::new(&name, transport, &found, algorithm, key));
            }
            (Some(trouble), _) if is_machine(sighting) => return Err(trouble.clone()),
            _ => {}
        }
    }
    Ok(records)
}

/// Each target that is not on opal's own machine, once, in the order of the plan.
fn each(report: &Report) -> impl Iterator<Item = &Sighting> {
    let mut known = BTreeSet::new();
    let away = report.targets.iter().filter(|sighting| leaves_origin(&sighting.way));
    away.filter(move |it| known.insert((label(&it.way), transport(&it.way))))
}

fn is_machine(sighting: &Sighting) -> bool {
    sighting.way.last().is_some_and(|crossing| matches!(crossing.target.hop, Hop::Ssh(_)))
}

/// A host whose key `ssh` refuses: nothing may be said to it.
#[derive(Debug)]
pub(crate) struct RefusedKey(pub(crate) Trouble);

/// In what targets differ from those of the contract, in the order of the plan.
pub(crate) fn compare(
    contract: &Contract,
    report: &Report,
    reach: &dyn Reach,
    key: &PlaceholderKey,
) -> Result<Vec<Difference>, RefusedKey> {
    let records = &contract.provenance().targets;
    let records: BTreeMap<(&str, &[String]), &TargetRecord> =
        records.iter().map(|it| ((&*it.name, &*it.transport), it)).gathered();
    let refused = reach.refused();
    let refused: BTreeMap<(&str, &[String]), &Refusal> =
        refused.iter().map(|it| ((&*it.target, &*it.transport), &it.why)).gathered();
    let mut found = Vec::new();
    for sighting in each(report) {
        let (name, transport) = (label(&sighting.way), transport(&sighting.way));
        let at = (&*name, &*transport);
        let record = records.get(&at);
        match (refused.get(&at), &sighting.trouble, record) {
            (Some(Refusal::Key(trouble)), ..) => return Err(RefusedKey(trouble.clone())),
            (Some(Refusal::Changed(words)), _, Some(_)) => found.push(mutated(&name, words)),
            (Some(Refusal::Changed(_)), _, None) => found.push(Difference::of_new_machine(&name)),
            (_, Some(trouble), _) if record.is_some() || is_machine(sighting) => {
                let words = said(&name, trouble);
                found.push(Difference::of_machine(Drift::InfraMissing, &name, words));
            }
            (_, None, Some(record)) => {
                let now = reach.identity(&sighting.way);
                let algorithm = contract.plan().algorithm;
                let now =
                    now.map(|it| TargetRecord::new(&name, transport.clone(), &it, algorithm, key));
                let words = now.map(|now| record.differences(&now, THEN, NOW)).unwrap_or_default();
                if !words.is_empty() {
                    found.push(mutated(&name, &words));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The same where there is no plan because of them; none where they are as they were.
pub(crate) fn refused(reach: &dyn Reach) -> Result<Vec<Difference>, RefusedKey> {
    let mut found = Vec::new();
    for refused in reach.refused() {
        let name = &refused.target;
        found.push(match refused.why {
            Refusal::Key(trouble) => return Err(RefusedKey(trouble)),
            Refusal::Changed(words) => mutated(name, &words),
            Refusal::Unreachable(trouble) => {
                Difference::of_machine(Drift::InfraMissing, name, said(name, &trouble))
            }
        });
    }
    Ok(found)
}

fn mutated(name: &str, words: &[String]) -> Difference {
    Difference::of_machine(Drift::InfraMutated, name, words.join("; "))
}

/// Without the name, which is said already.
fn said(name: &str, trouble: &Trouble) -> String {
    let message = trouble.message.to_string();
    match message.strip_prefix(&format!("`{name}`: ")) {
        Some(rest) => rest.to_owned(),
        None => message,
    }
}

/// The machines on which a forced run does nothing: those that are missing, and those that the contract
/// does not have.
pub(crate) fn omitted(differences: &[Difference]) -> BTreeSet<String> {
    let is_omitted =
        |it: &&Difference| it.code == Drift::InfraMissing || it.change == Change::NewMachine;
    let names = differences.iter().filter(is_omitted).filter_map(|it| it.machine.as_deref());
    // What is inside of a machine is the same for all machines of a block.
    names.map(|name| name.split('/').next().unwrap_or(name).to_owned()).collect()
}

/// Takes targets out of the blocks of a plan. The others keep their places, and with these their batches.
pub(crate) fn omit(steps: &mut [Step], names: &BTreeSet<String>) {
    for step in steps {
        let known = step.arg(PLACES).and_then(|arg| match arg {
            Arg::Const(value) => places(&Data::from(value)),
            _ => None,
        });
        let targets = step.args.iter_mut().find(|(name, _)| name == TARGETS);
        if let Some((_, Arg::Const(Value::Array(targets)))) = targets {
            let count = targets.len();
            let (mut at, of) = known.unwrap_or_else(|| ((0..count).collect(), count));
            let is_left =
                |target: &Value| !name_of(target).is_some_and(|name| names.contains(name));
            let mut left = targets.iter().map(is_left).collect::<Vec<_>>().into_iter();
            at.retain(|_| left.next().unwrap_or_default());
            targets.retain(is_left);
            if at.len() < count && step.node != Node::Variant {
                step.args.retain(|(name, _)| name != PLACES);
                step.args.push((PLACES.into(), Arg::Const(places_of(at.into_iter(), of))));
                step.sort_args();
            }
            let variants = step.block.iter_mut();
            for variant in variants.filter(|it| it.node == Node::Variant) {
                omit(std::slice::from_mut(variant), names);
            }
        } else {
            omit(&mut step.block, names);
        }
    }
}

fn name_of(target: &Value) -> Option<&str> {
    let name = match target {
        Value::Map(fields) => fields.get("name")?,
        name => name,
    };
    match name {
        Value::String(name) => Some(name),
        _ => None,
    }
}
