//! The gate: what the approval rules of this side demand of a contract, and whether it has it.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Value;
use opal_core::contract::Contract;
use opal_core::contract::approval::Approval;
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{self, Arg, Plan};
use opal_trust::approvals::{self, Claim, Counted, Judged, Signer};
use opal_trust::keys::PublicKey;
use opal_trust::policy::{Environment, Policy, Rule};
use opal_vault::record::reader::Run;

use super::{Refusal, Rules};
use crate::planning::record_name;

/// How a contract that the rules accept is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The approvals that count.
    pub approvals: Vec<Counted>,
    /// Whether it may run once, by its own word or by a rule.
    pub once: bool,
    /// Whether it runs in a fresh checkout of its commit.
    pub tree: bool,
    /// The only variables that it runs with.
    pub environment: Option<Environment>,
    /// Whether a rule of the machine, and not only of the project, needed the approval of people.
    pub by_machine: bool,
}

/// A contract that somebody wants to run, show or approve.
#[derive(Clone, Copy, Debug)]
pub struct Case<'c> {
    pub contract: &'c Contract,
    /// Of the bytes of its file.
    pub id: Digest,
}

impl<'c> Case<'c> {
    /// The rules that match it.
    #[must_use]
    pub fn rules<'p>(&self, policy: &'p Policy) -> Vec<&'p Rule> {
        let plan = self.contract.plan();
        let source = self.contract.provenance().source.as_ref().map_or("", |it| it.path.as_str());
        // Scripts are known by their files, as in records and where they run without a contract.
        let name = record_name(Path::new(source), plan);
        let mut functions = functions(plan);
        functions.insert(&plan.target.name);
        policy.rules_for(name, &functions)
    }

    /// What the rules judge.
    #[must_use]
    pub fn claim(&self, is_limited: bool, now: i64) -> Claim<'c> {
        let plan = self.contract.plan();
        Claim {
            contract: self.id,
            algorithm: plan.algorithm,
            plan_hash: self.contract.plan_hash(),
            target: &plan.target.name,
            functions: functions(plan),
            made: self.contract.created(),
            maker: self.contract.provenance().signer.map(PublicKey::from_bytes),
            unseen: plan.values.values().filter(|value| value.public.is_none()).count(),
            is_limited,
            now,
        }
    }

    /// What the rules say about it, with these approvals.
    #[must_use]
    pub fn judge(&self, policy: &Policy, approvals: &[Approval], now: i64) -> Judged {
        approvals::judge(&self.rules(policy), approvals, &self.claim(false, now))
    }
}

/// What contracts of one project, task and arguments have in common for a person who approves them: the
/// ledger keeps the last one by it.
#[must_use]
pub fn kinship(contract: &Contract, signer: &Signer) -> Digest {
    let plan = contract.plan();
    let project = contract.provenance().project.as_deref().unwrap_or_default();
    let mut parts: Vec<String> =
        vec![signer.to_string(), project.to_owned(), plan.target.name.clone()];
    for (name, value) in &plan.target.arguments {
        parts.extend([name.clone(), value.to_string()]);
    }
    // Each with its length, so that no two lists of parts are the same bytes.
    let parts: Vec<u8> =
        parts.iter().flat_map(|it| format!("{}:{it}", it.len()).into_bytes()).collect();
    Algorithm::Sha256.digest(&[b"opal-approved-v1\0", &parts])
}

/// Every function of the file that the steps of a plan call.
#[must_use]
pub fn functions(plan: &Plan) -> BTreeSet<&str> {
    let calls = plan::all(&plan.steps).filter(|step| step.node.is_function());
    let names = calls.filter_map(|step| match step.arg("function")? {
        Arg::Const(Value::String(name)) => Some(&**name),
        _ => None,
    });
    names.collect()
}

/// Holds a contract against the approval rules.
pub(super) fn pass(case: &Case<'_>, rules: &Rules<'_>) -> Result<Accepted, Refusal> {
    let policy = rules.policy;
    let matching = case.rules(policy);
    let claim = case.claim(rules.is_limited, rules.time);
    let kept = rules.ledger.map(|ledger| ledger.rejections(&case.id)).unwrap_or_default();
    let kept = kept.iter().filter_map(|line| Approval::parse(line.trim_end()).ok());
    let known: Vec<Approval> = kept.chain(rules.approvals.iter().cloned()).collect();
    let rejections = approvals::rejections(&matching, &known, &claim);
    if !rejections.is_empty() {
        if let Some(ledger) = rules.ledger {
            for (_, line) in &rejections {
                // That it cannot be kept does not make the contract any better.
                let _ = ledger.reject(&case.id, &line.to_line());
            }
        }
        return Err(Refusal::Rejected(rejections.into_iter().map(|(who, _)| who).collect()));
    }
    let gated: Vec<&&Rule> = matching.iter().filter(|rule| rule.needs_people()).collect();
    if !gated.is_empty()
        && let Some(option) = forbidden(case, rules)
    {
        return Err(Refusal::OptionForbidden(option));
    }
    let judged = approvals::judge(&matching, rules.approvals, &claim);
    if !judged.unmet.is_empty() {
        return Err(Refusal::Unapproved(judged.unmet));
    }
    let environments = matching.iter().filter_map(|rule| rule.environment.clone());
    Ok(Accepted {
        approvals: judged.counted,
        once: case.contract.provenance().once || gated.iter().any(|rule| rule.once),
        tree: policy.tree || matching.iter().any(|rule| rule.tree),
        environment: environments
            .fold(policy.environment.clone(), |known, one| Environment::both(known, Some(one))),
        by_machine: gated.iter().any(|rule| rule.of_machine),
    })
}

/// An option of the run that would make another run of it than the approved one.
fn forbidden(case: &Case<'_>, rules: &Rules<'_>) -> Option<&'static str> {
    let is_other = |run: &Run| run.contract() != Some(case.id);
    if rules.resumed.is_some_and(is_other) {
        return Some("--resume");
    }
    rules.forbidden_option
}
