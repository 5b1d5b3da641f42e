//! Who approved the contract of a run.

use std::path::Path;

use opal_core::contract::Contract;
use opal_ops::contract::{self, Case, Refusal};
use opal_trust::approvals::{Counted, Signer, check};
use opal_trust::policy::{Policy, Rule};
use opal_vault::ledger::Ledger;
use opal_vault::record;
use opal_vault::root::Root;

use super::refusal::Attempt;
use crate::commands::plan::approver::open_keys;
use crate::{rules, view};

/// A private key of somebody whose approval counts, which every step could sign with. That refuses the
/// contract where the machine demands approvals; where only the user does, it is said.
pub(super) fn reach(case: &Case<'_>, policy: &Policy, root: Option<&Root>) -> Option<Refusal> {
    let rules = case.rules(policy);
    let rules: Vec<&&Rule> = rules.iter().filter(|rule| rule.needs_people()).collect();
    if rules.is_empty() {
        return None;
    }
    let lists = |rule: &Rule, key: &Signer| rule.person(key).is_some();
    let found = open_keys(root, &|key| rules.iter().any(|rule| lists(rule, key)));
    for (path, key) in found {
        if rules.iter().any(|rule| rule.file == Path::new(rules::SYSTEM) && lists(rule, &key)) {
            return Some(Refusal::KeyInReach(path));
        }
        let path = path.display();
        view::plan::note(&format!(
            "every step can sign approvals with `{path}`, which has no passphrase; the approval proves nothing"
        ));
    }
    None
}

/// Who approved it sees next time what differs from it, also where it was approved on another machine. What
/// they signed is evidence. That it cannot be kept changes nothing of the run.
pub(super) fn remember(
    counted: &[Counted],
    attempt: &Attempt<'_>,
    contract: &Contract,
    root: Option<&Root>,
) {
    let Some(ledger) = root.map(Ledger::new) else { return };
    for (signer, _) in counted.iter().filter_map(|it| Signer::parse(&it.key)) {
        let kin = contract::kinship(contract, &signer);
        let _ = ledger.keep_approved(&kin, attempt.bytes);
    }
    for line in attempt.approvals {
        let Ok(checked) = check(line) else { continue };
        let (key, at) = (checked.signer.to_string(), checked.statement.at);
        if counted.iter().any(|it| (&it.key, it.at) == (&key, at)) {
            let _ = ledger.approve(&line.statement.contract, &line.to_line());
        }
    }
}

pub(super) fn approved(one: &Counted) -> record::Approved {
    record::Approved {
        name: one.name.clone(),
        key: one.key.clone(),
        at: view::plan::time(one.at),
        note: one.note.clone(),
    }
}
