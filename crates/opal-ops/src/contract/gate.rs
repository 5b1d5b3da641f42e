//! The gate: what the approval rules of this side demand of a contract, and whether it has it.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Value;
use opal_core::contract::Contract;
use opal_core::contract::approval::{Approval, Decision};
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{self, Arg, Plan};
use opal_trust::approvals::{self, Claim, Counted, Signer};
use opal_trust::contracts::peek;
use opal_trust::keys::PublicKey;
use opal_trust::policy::{Environment, Policy, Rule};
use opal_vault::ledger::Ledger;
use opal_vault::record::reader::Run;
use opal_vault::root::RootError;

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
            made: self.contract.created(),
            maker: self.contract.provenance().signer.map(PublicKey::from_bytes),
            unseen: plan.values.values().filter(|value| value.public.is_none()).count(),
            is_limited,
            now,
        }
    }

    /// What the policy fixes of its run: whether it runs in a fresh checkout of its commit, and the only
    /// variables that it runs with.
    #[must_use]
    pub fn fixed(&self, policy: &Policy) -> (bool, Option<Environment>) {
        let rules = self.rules(policy);
        let environments = rules.iter().filter_map(|rule| rule.environment.clone());
        let known = policy.environment.clone();
        let environment =
            environments.fold(known, |known, one| Environment::both(known, Some(one)));
        (policy.tree || rules.iter().any(|rule| rule.tree), environment)
    }

    /// Who rejected it, of those whom its rules list, now or as far as the ledger remembers. The ledger
    /// remembers it from now on; that it cannot does not make the contract any better.
    ///
    /// # Errors
    /// If the ledger has rejections that cannot be read, where those that can be read are of nobody.
    pub fn rejections(
        &self,
        policy: &Policy,
        approvals: &[Approval],
        ledger: Option<Ledger<'_>>,
        now: i64,
    ) -> Result<Vec<Counted>, RootError> {
        let kept = ledger.map(|ledger| ledger.rejections(&self.id)).transpose()?;
        let kept = kept.unwrap_or_default();
        let (mut known, mut damaged) = (approvals.to_vec(), None);
        for (line, number) in kept.iter().zip(1..) {
            match Approval::parse(line.trim_end()) {
                Ok(approval) => known.push(approval),
                Err(_) => damaged = damaged.or(Some(number)),
            }
        }
        let found = approvals::rejections(&self.rules(policy), &known, &self.claim(false, now));
        for (_, line) in &found {
            let _ = ledger.map(|ledger| ledger.reject(&self.id, &line.to_line()));
        }
        match (found.is_empty(), ledger, damaged) {
            (true, Some(ledger), Some(line)) => Err(ledger.damaged(&self.id, line)),
            _ => Ok(found.into_iter().map(|(who, _)| who).collect()),
        }
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

/// The contract of this kind that a person approved last, and its bytes. Whoever can write the ledger can put any
/// file there: only one that the person's own key has approved counts.
#[must_use]
pub fn approved_last(
    ledger: Ledger<'_>,
    contract: &Contract,
    signer: &Signer,
) -> Option<(Contract, Vec<u8>)> {
    let kin = kinship(contract, signer);
    let bytes = ledger.approved(&kin)?;
    let known = peek(&bytes).ok().filter(|it| kinship(it, signer) == kin)?;
    let id = Algorithm::Sha256.digest(&[&bytes]);
    let is_theirs = |line: &String| {
        let said = Approval::parse(line.trim_end()).ok();
        let checked = said.and_then(|said| approvals::check(&said).ok());
        checked.is_some_and(|it| {
            it.signer == *signer
                && it.statement.contract == id
                && it.statement.decision == Decision::Approve
        })
    };
    let is_approved = ledger.approvals(&id).ok()?.iter().any(is_theirs);
    is_approved.then_some((known, bytes))
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
    let rejections = case
        .rejections(policy, rules.approvals, rules.ledger, rules.time)
        .map_err(Refusal::Ledger)?;
    if !rejections.is_empty() {
        return Err(Refusal::Rejected(rejections));
    }
    let gated: Vec<&&Rule> = matching.iter().filter(|rule| rule.needs_people()).collect();
    if let Some(files) = rules.demanded_by
        && !gated.iter().any(|rule| files.contains(&rule.file))
    {
        return Err(Refusal::Ungated);
    }
    if !gated.is_empty()
        && let Some(option) = forbidden(case, rules)
    {
        return Err(Refusal::OptionForbidden(option));
    }
    let judged = approvals::judge(&matching, rules.approvals, &claim);
    if !judged.unmet.is_empty() {
        return Err(Refusal::Unapproved(judged.unmet));
    }
    let (tree, environment) = case.fixed(policy);
    Ok(Accepted {
        approvals: judged.counted,
        once: case.contract.provenance().once || gated.iter().any(|rule| rule.once),
        tree,
        environment,
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
