//! Whether a contract may run here: policy, signature, dates, single use.

use std::path::{Path, PathBuf};

use opal_core::contract::{Contract, Frame};
use opal_trust::contracts::Opened;
use opal_trust::keys::{Credentials, PublicKey};
use opal_trust::policy::{Facts, Files, Policy, Randomness, RefusalKind, Signature};
use opal_vault::ledger::Ledger;
use opal_vault::record::Reason;

use super::contract::unix_time;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::planning;

/// The rules of the machine.
const SYSTEM_POLICY: &str = "/etc/opal/policy.toml";

/// `--require-signature`, with the key it names.
#[derive(Debug, Default)]
pub(crate) struct Required {
    pub(crate) signature: bool,
    pub(crate) key: Option<String>,
}

/// All rules that hold here.
pub(crate) fn policy(
    context: &Context<'_>,
    options: &PlanOptions,
    required: &Required,
    source: Option<&Path>,
) -> Result<Policy, Failure> {
    let root = context.root(options.root.as_ref());
    let flags = match (required.signature, &required.key, &root) {
        (false, ..) => Policy::default(),
        (true, None, _) => Policy { require_signature: true, ..Policy::default() },
        (true, Some(key), Some(root)) => {
            let key = Credentials::new(root).public_key(key).map_err(Failure::key)?;
            Policy::requiring_signature(Some(key))
        }
        (true, Some(key), None) => {
            Policy::requiring_signature(Some(key.parse().map_err(Failure::key)?))
        }
    };
    let files = Files {
        system: Some(PathBuf::from(SYSTEM_POLICY)),
        user: root.map(|root| root.path().join("config/policy.toml")),
        project: source.and_then(planning::project_file),
    };
    let (policy, _) = files.load(flags).map_err(|error| {
        let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
        let message = format!("{}{line}: {}", error.file.display(), error.message);
        let exit = if error.is_unsafe { Exit::NotTrusted } else { Exit::Configuration };
        Failure::new(exit, message, error.help)
    })?;
    Ok(policy)
}

/// Refuses what the rules do not allow.
pub(crate) fn judge(policy: &Policy, bytes: &[u8], contract: &Contract) -> Result<(), Failure> {
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
    let Err(refusals) = policy.judge(&facts, unix_time()) else { return Ok(()) };
    let mut refusals = refusals.into_iter();
    let Some(first) = refusals.next() else { return Ok(()) };
    let reason = match first.kind {
        RefusalKind::NotSigned => Reason::Unsigned,
        RefusalKind::BadSignature => Reason::Tampered,
        RefusalKind::NotTrusted | RefusalKind::TooOld | RefusalKind::NoExpiry => Reason::NotTrusted,
    };
    let failure = Failure::new(Exit::NotTrusted, first.message, first.help).refusing(reason);
    Err(refusals
        .fold(failure, |failure, more| failure.help(format!("{}: {}", more.message, more.help))))
}

/// Refuses a run that draws random values without a contract, where the rules say so.
pub(crate) fn may_draw(
    context: &Context<'_>,
    options: &PlanOptions,
    source: &Path,
) -> Result<(), Failure> {
    let policy = policy(context, options, &Required::default(), Some(source))?;
    if policy.randomness != Randomness::Contract {
        return Ok(());
    }
    Err(Failure::new(
        Exit::NotTrusted,
        "the plan draws random values, and the policy allows that under a contract only",
        "make one with `opal plan TASK -o FILE`, and run it with `opal run --plan FILE`",
    ))
}

/// Refuses a run without a contract, where the rules demand one. `target` is what a record calls it,
/// `words` what is typed to plan it.
pub(crate) fn may_run_directly(
    context: &Context<'_>,
    options: &PlanOptions,
    (source, target): (&Path, &str),
    words: &str,
) -> Result<(), Failure> {
    let policy = policy(context, options, &Required::default(), Some(source))?;
    if policy.allows_direct(target) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::NotTrusted,
        format!("the policy demands a contract for `{target}`; nothing was run"),
        format!("make one with `{words}`, and run it with `opal run --plan FILE`"),
    ))
}

/// Refuses what has ended, and what was made for a single run that it has had. `mend` is the command
/// that makes the contract anew, where it is known.
pub(crate) fn not_over(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
    opened: &Opened,
    mend: &dyn Fn() -> Option<String>,
) -> Result<(), Failure> {
    let made = opened.contract.provenance();
    let is_used = || {
        let root = context.root(options.root.as_ref());
        root.is_some_and(|root| Ledger::new(&root).is_used(&opened.id))
    };
    let (reason, why) = match made.expires.filter(|end| unix_time() >= *end) {
        Some(end) => (Reason::Expired, format!("it expired at {}", crate::view::plan::time(end))),
        None if made.once && is_used() => (Reason::Used, USED.to_owned()),
        None => return Ok(()),
    };
    let mend = mend().unwrap_or_else(|| "opal plan TASK -o FILE".to_owned());
    Err(over(&path.display().to_string(), reason, &why, &mend))
}

/// Why a single-use contract does not run again.
pub(crate) const USED: &str = "this single-use contract has already been run";

/// The words for a contract whose time or use is over.
pub(crate) fn over(file: &str, reason: Reason, why: &str, mend: &str) -> Failure {
    let message = format!("`{file}` is refused: {why}");
    Failure::new(Exit::Refused, message, format!("make a new contract: `{mend}`")).refusing(reason)
}
