//! Contracts that this machine knows, and what people signed about them: lines of an export.
//!
//! Contracts are those of the inbox and those that somebody approved here. Lines of people are those of the
//! inbox, and those that the ledger keeps: rejections, and approvals that were made here or counted for a run.
//! What cannot be read, or is not what somebody signed, has a line that says so: nothing is left out in silence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use opal_core::contract::Contract;
use opal_core::contract::approval::{Approval, Decision};
use opal_core::hash::{Algorithm, Digest};
use opal_trust::approvals::check;
use opal_trust::contracts::peek;
use opal_vault::ledger::Ledger;
use opal_vault::root::Root;
use serde_json::{Value, json};

use crate::commands::plan::file::read_file;
use crate::commands::plan::named::{CONTRACT, INBOX, Named, ids};
use crate::failure::Failure;
use crate::failure::record::root_failure;
use crate::view::plan::{facts, time};

/// The lines about contracts, in the order of their digests; approvals and rejections after each. Then those
/// about what is damaged.
pub(super) fn of(root: &Root, since: Option<&str>) -> Result<Vec<Value>, Failure> {
    let mut found = Found::default();
    for id in ids(root) {
        let path = root.path().join(INBOX).join(&id).join(CONTRACT);
        match read_file(&path) {
            Ok(bytes) => {
                found.contract(&id, &bytes);
                let named = Named { path, shown: PathBuf::from(&id), bytes };
                match named.approvals() {
                    Ok(lines) => lines.into_iter().for_each(|line| found.line(&id, line)),
                    Err(failure) => found.damaged(&id, &failure.message),
                }
            }
            Err(failure) => found.damaged(&id, &failure.message),
        }
    }
    let ledger = Ledger::new(root);
    for kept in ledger.all_approved() {
        match kept {
            Ok(bytes) => found.contract("ledger", &bytes),
            Err(error) => found.damaged("ledger", &error.to_string()),
        }
    }
    for lines in [ledger.all_approvals(), ledger.all_rejections()] {
        for (contract, line) in lines.map_err(root_failure)? {
            match Approval::parse(&line) {
                Ok(approval) => found.line(&contract, approval),
                Err(_) => found.damaged(&contract, "a line of the ledger cannot be read"),
            }
        }
    }
    let Found { contracts, said, damaged } = found;
    let is_meant = |at: i64| since.is_none_or(|since| time(at).as_str() >= since);
    let about = said.iter().map(|line| line.statement.contract.hex());
    let digests: BTreeSet<String> = contracts.keys().cloned().chain(about).collect();
    let mut lines = Vec::new();
    for digest in digests {
        let known = contracts.get(&digest).filter(|(created, _)| is_meant(*created));
        lines.extend(known.map(|(_, line)| line.clone()));
        let own = said.iter().filter(|it| it.statement.contract.hex() == digest);
        lines.extend(own.filter(|it| is_meant(it.statement.at)).map(signed));
    }
    let damaged = damaged.into_iter();
    lines.extend(damaged.map(|(of, why)| json!({"kind": "damaged", "of": of, "why": why})));
    Ok(lines)
}

/// What there is.
#[derive(Default)]
struct Found {
    contracts: BTreeMap<String, (i64, Value)>,
    said: BTreeSet<Approval>,
    /// Of which contract something is damaged, and why nobody can go by it.
    damaged: BTreeSet<(String, String)>,
}

impl Found {
    fn contract(&mut self, id: &str, bytes: &[u8]) {
        match peek(bytes) {
            Ok(contract) => {
                let digest = Algorithm::Sha256.digest(&[bytes]);
                let known = || (contract.created(), line(&contract, &digest));
                self.contracts.entry(digest.hex()).or_insert_with(known);
            }
            Err(_) => self.damaged(id, "it is not a contract that this opal can read"),
        }
    }

    fn line(&mut self, id: &str, approval: Approval) {
        // What is not signed by the key that it names is nobody's word.
        match check(&approval) {
            Ok(_) => _ = self.said.insert(approval),
            Err(_) => self.damaged(id, "an approval is not what its key has signed"),
        }
    }

    fn damaged(&mut self, id: &str, why: &str) {
        self.damaged.insert((id.to_owned(), why.to_owned()));
    }
}

fn line(contract: &Contract, digest: &Digest) -> Value {
    let (facts, plan) = (facts(contract), contract.plan());
    json!({
        "commit": facts.source_commit,
        "contract": digest.hex(),
        "created": time(contract.created()),
        "expires": facts.expires.map(time),
        "kind": "contract",
        "made_by": facts.generated_by,
        "modified": facts.source_modified,
        "plan_hash": plan.algorithm.written(&contract.plan_hash()),
        "signed_by": facts.signed_by.first(),
        "target": plan.target.name,
    })
}

/// With the signature, so that whoever has the export can check it.
fn signed(approval: &Approval) -> Value {
    let (kind, statement) = (kind(approval.statement.decision), &approval.statement);
    let said: Value = serde_json::from_str(approval.to_line().trim_end()).unwrap_or(Value::Null);
    json!({"contract": statement.contract.hex(), "kind": kind, (kind): said})
}

const fn kind(decision: Decision) -> &'static str {
    match decision {
        Decision::Approve => "approval",
        Decision::Reject => "rejection",
    }
}

/// Whether a line is said to be of a person, and is not what they signed.
pub(super) fn is_edited(document: &Value) -> bool {
    let kinds = [Decision::Approve, Decision::Reject];
    let Some(decision) = kinds.into_iter().find(|it| document["kind"] == kind(*it)) else {
        return false;
    };
    // Members are sorted, as they were when it was signed.
    let said = Approval::parse(&document[kind(decision)].to_string());
    !said.is_ok_and(|said| {
        said.statement.decision == decision
            && document["contract"] == said.statement.contract.hex()
            && check(&said).is_ok()
    })
}
