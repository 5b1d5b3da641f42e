//! Whether a contract may run here.
//!
//! | what | where |
//! |---|---|
//! | reading, unsealing and authenticating its bytes | [`open`] |
//! | policy, dates, single use | [`accept`] |
//! | what approval rules demand of it | [`Case`], [`Accepted`] |
//! | planning again | `again` |
//! | what differs | [`compare`], of targets in [`crate::targets`] |
//! | all of it, in this order: the decision | [`decide`] |
//! | every way in which it is refused | [`Refusal`] |
//!
//! Nothing here has an effect: what is compared is a fresh plan and a check of its resources.
//!
//! Deliberately not here: where the source is, and what is said about a refusal.

mod again;
mod gate;
mod refusal;

use opal_core::Registry;
use opal_core::contract::approval::Approval;
use opal_core::contract::{self, Change, Contract, Earlier, Frame, Verdict};
use opal_core::hosts::{self, Inventories};
use opal_core::keys::{KeyError, Keys};
use opal_core::placeholder::PlaceholderKey;
use opal_core::resolver::{Probe, Trouble};
use opal_exec::verify::Report;
use opal_plan::plan::Resolved;
use opal_session::stop::Stop;
use opal_trust::contracts::{self, Opened};
use opal_trust::keys::{PublicKey, Runner};
use opal_trust::policy::{Facts, Policy, Signature};
use opal_vault::ledger::{Ledger, ShareOf, ShareUse};
use opal_vault::record::reader::{self, Run};
use opal_vault::root::Root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use again::Again;
pub use gate::{Accepted, Case, approved_last, functions, kinship};
pub use refusal::{Refusal, differs};

use crate::planning::Subject;
use crate::resources::{self, Place};
use crate::source::Loaded;
use crate::targets;

/// What this side demands of every contract.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    pub policy: &'r Policy,
    /// Which single-use contracts have run; none where nothing can be kept.
    pub ledger: Option<Ledger<'r>>,
    /// The run that is to be continued, if it can be: part of the one use where it is of this contract.
    pub resumed: Option<&'r Run>,
    /// In Unix seconds.
    pub time: i64,
    /// What people said about it.
    pub approvals: &'r [Approval],
    /// Whether only some of its targets are to run.
    pub is_limited: bool,
    /// An option of the run that approval rules forbid.
    pub forbidden_option: Option<&'static str>,
    /// The share of an order that it is run as.
    pub share: Option<ShareRun<'r>>,
    /// The policy files of which one must demand an approval; none where that is not required.
    pub demanded_by: Option<&'r [PathBuf]>,
}

impl<'r> Rules<'r> {
    /// Of a contract that nobody said anything about.
    #[must_use]
    pub fn new(policy: &'r Policy, ledger: Option<Ledger<'r>>, time: i64) -> Self {
        Self {
            policy,
            ledger,
            resumed: None,
            time,
            approvals: &[],
            is_limited: false,
            forbidden_option: None,
            share: None,
            demanded_by: None,
        }
    }
}

/// A share of an order.
#[derive(Clone, Copy, Debug)]
pub struct ShareRun<'r> {
    pub of: ShareOf<'r>,
    /// Whether the order uses the contract up.
    pub once: bool,
}

/// The source and the machine that the contract is compared with.
#[derive(Clone, Copy)]
pub struct Now<'n> {
    pub source: &'n Loaded,
    pub registry: &'n Registry,
    pub probe: &'n dyn Probe,
    pub place: &'n Place<'n>,
    /// Has the records of earlier runs of the contract; none where nothing can be kept.
    pub root: Option<&'n Root>,
    pub stop: &'n Stop,
    /// The targets of fleets that are left: all others are neither compared nor asked.
    pub limit: Option<&'n str>,
}

impl std::fmt::Debug for Now<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Now").field("source", &self.source.path).finish_non_exhaustive()
    }
}

/// What may differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tolerance {
    /// Values and resources may differ, steps may not.
    pub force: bool,
    /// Not even the text of the source may.
    pub strict_source: bool,
}

/// A contract that someone wants to run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// Those that it was opened from.
    pub bytes: &'r [u8],
    pub rules: Rules<'r>,
    pub now: Now<'r>,
    pub tolerance: Tolerance,
}

/// A contract beside the plan of now.
#[derive(Debug)]
pub struct Compared {
    pub fresh: Resolved,
    pub verdict: Verdict,
    /// What the placeholders of both are made with.
    pub key: PlaceholderKey,
}

/// A contract that may run: as the plan of now, which is its own.
#[derive(Debug)]
pub struct Allowed {
    pub compared: Compared,
    pub how: How,
    pub accepted: Accepted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Nothing differs.
    Same,
    /// The source has another text, and gives the same plan.
    SourceMoved,
    /// Values or resources differ, and that was asked for.
    Forced,
}

/// The answer is negative, or there is none.
#[derive(Debug)]
pub enum Stopped {
    Refused(Refusal),
    Undecided(Undecided),
}

/// Why nobody knows whether a contract may run.
#[derive(Debug)]
pub enum Undecided {
    /// A key of the contract cannot be used.
    Key(KeyError),
    /// The resources cannot be verified at all. It holds no value.
    Unready(Trouble),
    /// A signal or a time limit came in between.
    CutOff(Part),
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Undecided> for Stopped {
    fn from(undecided: Undecided) -> Self {
        Self::Undecided(undecided)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Planning,
    Resources,
}

/// What is worth telling while a contract is compared.
#[derive(Clone, Copy, Debug)]
pub enum News<'n> {
    /// So many errors are in functions that the target does not reach.
    Elsewhere(usize, &'n Subject<'n>),
    Planned(&'n Resolved),
    /// Resources differ, and an earlier run of this contract may have done it: it was interrupted
    /// before its resources could be verified. They count as they are.
    InterruptedRun,
}

/// Reads, unseals and authenticates a contract.
pub fn open(bytes: &[u8], runner: &Runner) -> Result<Opened, Refusal> {
    contracts::open(bytes, runner).map_err(Refusal::from)
}

/// Refuses what the rules do not allow, what has expired, what people have not approved, and what has had
/// its single run.
pub fn accept(bytes: &[u8], opened: &Opened, rules: &Rules<'_>) -> Result<Accepted, Refusal> {
    judge(bytes, &opened.contract, rules)?;
    let made = opened.contract.provenance();
    if let Some(end) = made.expires.filter(|end| rules.time >= *end) {
        return Err(Refusal::Expired { end });
    }
    let case = Case { contract: &opened.contract, id: opened.id };
    let mut accepted = gate::pass(&case, rules)?;
    if let Some(share) = rules.share {
        accepted.once |= share.once;
        let found = rules.ledger.filter(|_| accepted.once).map(|it| it.share(&opened.id, share.of));
        return match found {
            Some(ShareUse::Elsewhere) => Err(Refusal::OtherOrder),
            Some(ShareUse::Ended) => Err(Refusal::ShareEnded(share.of.number)),
            Some(ShareUse::Open) | None => Ok(accepted),
        };
    }
    let is_used = |ledger: Ledger<'_>| match rules.resumed {
        Some(run) => run.contract() != Some(opened.id) || ledger.is_continued(&opened.id, &run.id),
        None => ledger.is_used(&opened.id),
    };
    if accepted.once && rules.ledger.is_some_and(is_used) {
        return Err(Refusal::Used);
    }
    Ok(accepted)
}

fn judge(bytes: &[u8], contract: &Contract, rules: &Rules<'_>) -> Result<(), Refusal> {
    let frame = Frame::read(bytes).ok();
    let signature = frame.as_ref().and_then(Frame::ed25519);
    let facts = Facts {
        signature: signature.map(|(bytes, signed)| Signature {
            bytes,
            signed,
            by: contract.provenance().signer.map(PublicKey::from_bytes),
        }),
        made: contract.created(),
        expires: contract.provenance().expires.is_some(),
    };
    rules.policy.judge(&facts, rules.time).map_err(Refusal::Policy)
}

/// Whether a contract may run here and now.
pub fn decide(
    opened: &mut Opened,
    request: &Request<'_>,
    tell: &dyn Fn(News<'_>),
) -> Result<Allowed, Stopped> {
    let accepted = accept(request.bytes, opened, &request.rules)?;
    let is_forced = request.tolerance.force;
    let mut compared = compare(opened, &request.now, is_forced, tell)?;
    let (verdict, tolerance) = (&compared.verdict, request.tolerance);
    let is_other_text = verdict.source_moved && tolerance.strict_source;
    let how = if verdict.is_same() {
        if verdict.source_moved { How::SourceMoved } else { How::Same }
    } else if tolerance.force && verdict.may_be_forced() {
        How::Forced
    } else {
        return Err(Refusal::Differs(Box::new(compared)).into());
    };
    if how == How::Forced {
        let omitted = targets::omitted(&compared.verdict.differences);
        targets::omit(&mut compared.fresh.plan.steps, &omitted);
    }
    if is_other_text {
        return Err(Refusal::SourceChanged(Box::new(compared)).into());
    }
    Ok(Allowed { compared, how, accepted })
}

/// Plans again, and says whether the plan of now is the contract's, and whether its targets and resources
/// are as they were. Where that is forced, connections may lead to other machines than the contract's.
pub fn compare(
    opened: &mut Opened,
    now: &Now<'_>,
    is_forced: bool,
    tell: &dyn Fn(News<'_>),
) -> Result<Compared, Stopped> {
    let changed = changed_packages(&opened.contract, now.registry);
    if !changed.is_empty() {
        return Err(Refusal::PackagesChanged(changed).into());
    }
    let key = opened.keys.placeholder_key().map_err(Undecided::Key)?;
    let reach = now.place.reach.as_deref();
    if let Some(reach) = reach {
        targets::hold(reach, &opened.contract, &key, is_forced);
    }
    let Again { fresh, limit, missing } = again::plan(opened, now, is_forced, tell)?;
    let mut verdict = match limit.as_deref() {
        Some(limit) => {
            let misses = |name: &str| is_missed(limit, name, &fresh);
            contract::compare_limited(&opened.contract, &fresh.plan, &misses)
        }
        None => contract::compare(&opened.contract, &fresh.plan),
    };
    // Where it is another plan, its steps say nothing about those of the contract.
    if verdict.may_be_forced() {
        let report = resources::of_contract(&fresh, now.registry, &key, now.place, now.stop)
            .map_err(Undecided::Unready)?;
        if report.stopped.is_some() {
            return Err(Undecided::CutOff(Part::Resources).into());
        }
        if let Some(reach) = reach {
            let found = targets::compare(&opened.contract, &report, reach, &key);
            verdict.add_machines(found.map_err(|key| Refusal::HostKey(key.0))?);
            verdict.add_machines(missing);
        }
        let is_known = verdict.hold_resources(&opened.contract, &resources::seen(&report), || {
            earlier(now.root, opened)
        });
        if !is_known {
            tell(News::InterruptedRun);
        }
        explain(&mut verdict, &report);
    }
    Ok(Compared { fresh, verdict, key })
}

/// The packages of a contract that have other files now: what they would read while planning is not
/// what was agreed to.
fn changed_packages(contract: &Contract, registry: &Registry) -> Vec<String> {
    let now: BTreeMap<&str, &str> =
        registry.plugins().map(|plugin| (plugin.name, plugin.checksum)).collect();
    let plugins = contract.provenance().plugins.iter();
    let changed = plugins
        .filter(|it| it.checksum.as_deref().is_some_and(|then| now.get(&*it.name) != Some(&then)));
    let names: BTreeSet<String> = changed.map(|it| it.name.clone()).collect();
    names.into_iter().collect()
}

/// Whether a target of the contract that is no longer there would be left by its name.
fn is_missed(limit: &str, name: &str, fresh: &Resolved) -> bool {
    let named = |reader: &dyn Inventories| reader.limited(limit, &[(name, &[])]);
    !fresh.limited.all.contains(name)
        && hosts::reader().and_then(named).is_ok_and(|left| !left.is_empty())
}

/// What the earlier runs of the contract have left.
fn earlier(root: Option<&Root>, opened: &Opened) -> Vec<Earlier> {
    let algorithm = opened.contract.plan().algorithm;
    match root.map(|root| reader::earlier(root, opened.id, algorithm)) {
        Some(Ok(earlier)) => earlier,
        // Records that cannot be read may be of a run.
        Some(Err(_)) => vec![Earlier::Unseen],
        None => Vec::new(),
    }
}

/// Says of each resource that differs what was found.
fn explain(verdict: &mut Verdict, now: &Report) {
    let resources = verdict.differences.iter_mut().filter(|it| it.change == Change::Resource);
    for difference in resources {
        let found = now.verifications.iter().find(|it| Some(&it.path) == difference.path.as_ref());
        if let Some(found) = found {
            difference.words.push_str(&format!(": {}", found.message.text()));
        }
    }
}

#[cfg(test)]
mod tests;
