//! Differences of machines: who answers on targets.

use std::collections::BTreeMap;

use super::{Change, Difference, Drift, Verdict};
use crate::contract::Contract;
use crate::contract::provenance::TargetRecord;
use crate::gather::Gather as _;

/// In what the targets differ that both have. Machines are compared only where their digests can be.
pub(super) fn between(one: &Contract, other: &Contract, comparable: bool) -> Vec<Difference> {
    let before = one.provenance.targets.iter().map(|it| ((&it.name, &it.transport), it));
    let before: BTreeMap<_, &TargetRecord> = before.gathered();
    let mut found = Vec::new();
    for after in &other.provenance.targets {
        let Some(before) = before.get(&(&after.name, &after.transport)) else { continue };
        let mut before = TargetRecord::clone(before);
        if !comparable {
            before.machine = after.machine.clone();
        }
        let words = before.differences(after, "in the first", "in the second");
        if !words.is_empty() {
            let words = words.join("; ");
            found.push(Difference::of_machine(Drift::InfraMutated, &after.name, words));
        }
    }
    found
}

impl Difference {
    /// A machine, and what is to be said about it.
    #[must_use]
    pub fn of_machine(code: Drift, name: &str, words: String) -> Self {
        Self {
            change: Change::Machine,
            code,
            path: None,
            was: None,
            key: None,
            machine: Some(name.into()),
            before: None,
            after: None,
            causes: Vec::new(),
            words,
        }
    }

    /// A machine that is selected now, and was not when the contract was made.
    #[must_use]
    pub fn of_new_machine(name: &str) -> Self {
        let words = "it is selected now, and is not in the contract".to_owned();
        let one = Self::of_machine(Drift::InfraMutated, name, words);
        Self { change: Change::NewMachine, ..one }
    }

    /// The drift code, with the machine that it is about: `infra_mutated:web2`.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.machine {
            Some(machine) => format!("{}:{machine}", self.code),
            None => self.code.to_string(),
        }
    }
}

impl Verdict {
    /// Adds what was found of machines, before what was found of values, but nothing twice.
    pub fn add_machines(&mut self, found: Vec<Difference>) {
        let is_known =
            |one: &Difference| self.differences.iter().any(|it| it.machine == one.machine);
        let mut found: Vec<Difference> = found.into_iter().filter(|one| !is_known(one)).collect();
        found.append(&mut self.differences);
        self.differences = found;
    }
}
