//! Whether a contract may run here.

use std::collections::BTreeSet;
use std::fmt;

use super::Policy;
use crate::keys::{PublicKey, verify};

/// How far the clocks of two machines may be apart.
const SKEW_SECONDS: i64 = 5 * 60;

/// What a contract says about itself, and what its bytes prove.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub signature: Option<Signature<'a>>,
    /// When it was made, in Unix seconds.
    pub made: i64,
    /// Whether it has an end date.
    pub expires: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    pub bytes: &'a [u8; 64],
    /// What was signed.
    pub signed: &'a [u8],
    /// Whose it is said to be, where the contract says so.
    pub by: Option<PublicKey>,
}

/// Why a contract may not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    /// Lower case, without a full stop.
    pub message: String,
    pub help: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    NotSigned,
    BadSignature,
    NotTrusted,
    TooOld,
    NoExpiry,
}

impl Policy {
    /// Every reason to refuse a contract, `now` being in Unix seconds.
    pub fn judge(&self, facts: &Facts<'_>, now: i64) -> Result<(), Vec<Refusal>> {
        let refusals: Vec<Refusal> = [
            self.judge_signature(facts.signature.as_ref()),
            self.judge_age(facts.made, now),
            self.judge_expiry(facts.expires),
        ]
        .into_iter()
        .flatten()
        .collect();
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    fn judge_signature(&self, signature: Option<&Signature<'_>>) -> Option<Refusal> {
        let nobody = BTreeSet::new();
        let required = self.require_signature || self.trusted_keys.is_some();
        let trusted = self.trusted_keys.as_ref().unwrap_or(&nobody);
        let Some(signature) = signature else {
            return required.then(|| {
                Refusal::new(
                    RefusalKind::NotSigned,
                    "the contract is not signed, but the policy requires a signature",
                    "make it again with `--sign KEY`",
                )
            });
        };
        // A signature that is wrong is refused even where none is asked for: someone tried.
        if signature.by.is_some_and(|by| !signature.is_by(&by)) {
            return Some(Refusal::new(
                RefusalKind::BadSignature,
                "the signature does not match the contract",
                "fetch the file again, or make a new contract",
            ));
        }
        if !required || trusted.iter().any(|key| signature.is_by(key)) {
            return None;
        }
        let signer = signature.by.map_or("a key".into(), |by| format!("`{by}`"));
        let help = if trusted.is_empty() {
            "no key is trusted: add one to `trusted_keys` of the policy, or use \
             `--require-signature=KEY`"
        } else {
            "to trust the signer, add the key to `trusted_keys` of the policy"
        };
        Some(Refusal::new(
            RefusalKind::NotTrusted,
            format!("the contract is signed by {signer} that is not trusted"),
            help,
        ))
    }

    fn judge_age(&self, made: i64, now: i64) -> Option<Refusal> {
        let max_age = self.max_age?;
        let age = now.saturating_sub(made);
        let (message, help) = if age < -SKEW_SECONDS {
            ("the contract is dated in the future", "check the clocks of both machines")
        } else if age.saturating_mul(1_000_000_000) > max_age.as_nanos() {
            ("the contract is older than the policy allows", "make a new contract")
        } else {
            return None;
        };
        let message = format!("{message} (`max_age` is {max_age})");
        Some(Refusal::new(RefusalKind::TooOld, message, help))
    }

    fn judge_expiry(&self, expires: bool) -> Option<Refusal> {
        (self.require_expiry && !expires).then(|| {
            Refusal::new(
                RefusalKind::NoExpiry,
                "the contract has no expiry, but the policy requires one",
                "make it again with `--expires`, such as `--expires 24h`",
            )
        })
    }
}

impl Signature<'_> {
    /// Whether it is the signature of this key.
    #[must_use]
    pub(crate) fn is_by(&self, key: &PublicKey) -> bool {
        verify(key, self.bytes, self.signed)
    }
}

impl Refusal {
    fn new(kind: RefusalKind, message: impl Into<String>, help: &str) -> Self {
        Self { kind, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
