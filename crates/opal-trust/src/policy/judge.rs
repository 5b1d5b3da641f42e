//! Whether a contract may run here.

use std::collections::BTreeSet;
use std::fmt;

use opal_core::Duration;

use super::Policy;
use crate::keys::{PublicKey, verify};

/// How far the clocks of two machines may be apart.
pub(crate) const SKEW_SECONDS: i64 = 5 * 60;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NotSigned,
    BadSignature,
    NotTrusted {
        signer: Option<PublicKey>,
        /// Whether nobody is trusted at all.
        by_nobody: bool,
    },
    /// It was made after now.
    InTheFuture {
        max_age: Duration,
    },
    TooOld {
        max_age: Duration,
    },
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
            return required.then_some(Refusal::NotSigned);
        };
        // A signature that is wrong is refused even where none is asked for: someone tried.
        if signature.by.is_some_and(|by| !signature.is_by(&by)) {
            return Some(Refusal::BadSignature);
        }
        if !required || trusted.iter().any(|key| signature.is_by(key)) {
            return None;
        }
        Some(Refusal::NotTrusted { signer: signature.by, by_nobody: trusted.is_empty() })
    }

    fn judge_age(&self, made: i64, now: i64) -> Option<Refusal> {
        let max_age = self.max_age?;
        let age = now.saturating_sub(made);
        if age < -SKEW_SECONDS {
            return Some(Refusal::InTheFuture { max_age });
        }
        let is_too_old = age.saturating_mul(1_000_000_000) > max_age.as_nanos();
        is_too_old.then_some(Refusal::TooOld { max_age })
    }

    fn judge_expiry(&self, expires: bool) -> Option<Refusal> {
        (self.require_expiry && !expires).then_some(Refusal::NoExpiry)
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
    /// Whether a new contract, made in another way, is the way forward.
    #[must_use]
    pub const fn needs_new_contract(&self) -> bool {
        matches!(self, Self::NotSigned | Self::TooOld { .. } | Self::NoExpiry)
    }

    /// The way forward.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotSigned => "make it again with `--sign KEY`",
            Self::BadSignature => "fetch the file again, or make a new contract",
            Self::NotTrusted { by_nobody: true, .. } => {
                "no key is trusted: add one to `trusted_keys` of the policy, or use \
                 `--require-signature=KEY`"
            }
            Self::NotTrusted { .. } => {
                "to trust the signer, add the key to `trusted_keys` of the policy"
            }
            Self::InTheFuture { .. } => "check the clocks of both machines",
            Self::TooOld { .. } => "make a new contract",
            Self::NoExpiry => "make it again with `--expires`, such as `--expires 24h`",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSigned => {
                f.write_str("the contract is not signed, but the policy requires a signature")
            }
            Self::BadSignature => f.write_str("the signature does not match the contract"),
            Self::NotTrusted { signer: Some(signer), .. } => {
                write!(f, "the contract is signed by a key that is not trusted: `{signer}`")
            }
            Self::NotTrusted { signer: None, .. } => {
                f.write_str("the contract is signed by a key that is not trusted")
            }
            Self::InTheFuture { max_age } => {
                write!(f, "the contract is dated in the future (`max_age` is {max_age})")
            }
            Self::TooOld { max_age } => {
                write!(f, "the contract is older than the policy allows (`max_age` is {max_age})")
            }
            Self::NoExpiry => {
                f.write_str("the contract has no expiry, but the policy requires one")
            }
        }
    }
}
