//! Every way in which a contract is refused.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use opal_core::Diagnostic;
use opal_core::contract::{Difference, Drift, FormatError, FormatErrorKind, Verdict};
use opal_core::message::counted;
use opal_core::resolver::Trouble;
use opal_core::view::time_text;
use opal_trust::approvals::{Counted, Unmet};
use opal_trust::contracts::Unopened;
use opal_trust::keys::{OpenError, PublicKey};
use opal_trust::policy;
use opal_vault::record::Reason;
use opal_vault::root::RootError;

use super::Compared;

/// Shown as the reason alone, lower case and without a full stop. It holds no value that is not
/// public.
#[derive(Debug)]
pub enum Refusal {
    /// The bytes break the format, or are not those that were authenticated.
    Damaged(FormatError),
    /// Another major version of the format wrote it.
    OtherVersion(FormatError),
    /// This runner cannot open it.
    SealedToOthers,
    /// What is sealed in it is not what was sealed.
    EnvelopeDamaged(OpenError),
    /// It names this signer, and the signature is not theirs.
    ForgedSignature(PublicKey),
    /// The seed is not the one that the contract names.
    OtherSeed,
    /// What the policy has against it, at least one thing.
    Policy(Vec<policy::Refusal>),
    /// What approval rules demand and it does not have, at least one thing.
    Unapproved(Vec<Unmet>),
    /// An approval was required, and no rule of this machine demands one.
    Ungated,
    /// People whom an approval rule lists said no, at least one.
    Rejected(Vec<Counted>),
    /// The ledger may have rejections of it, and cannot be read.
    Ledger(RootError),
    /// Every step could sign with this private key of somebody whose approval counts.
    KeyInReach(PathBuf),
    /// An option of the run that approval rules forbid.
    OptionForbidden(&'static str),
    /// Its time ended, in Unix seconds.
    Expired { end: i64 },
    /// It is a single-use contract, and has been run.
    Used,
    /// It is a single-use contract, and another order has used it here.
    OtherOrder,
    /// It is a single-use contract, and this share of its order has run to its end here.
    ShareEnded(u32),
    /// There is no plan to compare it with.
    NotPlannable { errors: Vec<Diagnostic>, code: Drift },
    /// There is no plan to compare it with, because targets are missing or other ones: what differs.
    Targets(Vec<Difference>),
    /// `ssh` refuses the key of a target.
    HostKey(Trouble),
    /// Steps, values or resources are other ones now.
    Differs(Box<Compared>),
    /// Packages that it was made with have other files now, or are gone: their names.
    PackagesChanged(Vec<String>),
    /// The source has another text, and not even that may differ.
    SourceChanged(Box<Compared>),
}

impl Refusal {
    /// What a record calls it.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Damaged(_)
            | Self::OtherVersion(_)
            | Self::EnvelopeDamaged(_)
            | Self::ForgedSignature(_)
            | Self::OtherSeed => Reason::Tampered,
            Self::SealedToOthers => Reason::NotSealed,
            Self::Policy(refusals) => match refusals.first() {
                Some(policy::Refusal::NotSigned) => Reason::Unsigned,
                Some(policy::Refusal::BadSignature) => Reason::Tampered,
                _ => Reason::NotTrusted,
            },
            Self::Unapproved(_) | Self::Ungated => Reason::NotApproved,
            Self::Rejected(_) => Reason::Rejected,
            Self::KeyInReach(_) | Self::OptionForbidden(_) | Self::Ledger(_) => Reason::NotTrusted,
            Self::Expired { .. } => Reason::Expired,
            Self::Used | Self::OtherOrder | Self::ShareEnded(_) => Reason::Used,
            Self::NotPlannable { .. } => Reason::NotPlannable,
            Self::Differs(_)
            | Self::SourceChanged(_)
            | Self::PackagesChanged(_)
            | Self::Targets(_) => Reason::Drifted,
            Self::HostKey(_) => Reason::NotTrusted,
        }
    }
}

impl From<Unopened> for Refusal {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::Format(error) if error.kind == FormatErrorKind::OtherVersion => {
                Self::OtherVersion(error)
            }
            Unopened::Format(error) => Self::Damaged(error),
            Unopened::Envelope(OpenError::NotARecipient) => Self::SealedToOthers,
            Unopened::Envelope(error) => Self::EnvelopeDamaged(error),
            Unopened::Signature(signer) => Self::ForgedSignature(signer),
            Unopened::Seed => Self::OtherSeed,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(error) | Self::OtherVersion(error) => error.fmt(f),
            Self::SealedToOthers => f.write_str("this machine is not among the recipients"),
            Self::EnvelopeDamaged(error) => error.fmt(f),
            Self::ForgedSignature(signer) => {
                write!(f, "the signature does not match its signer `{signer}`")
            }
            Self::OtherSeed => f.write_str("its seed has been changed"),
            Self::Policy(refusals) => match refusals.first() {
                Some(first) => first.fmt(f),
                None => f.write_str("the policy forbids it"),
            },
            Self::Unapproved(unmet) => match unmet.first() {
                Some(first) => first.fmt(f),
                None => f.write_str("it is not approved"),
            },
            Self::Ungated => {
                f.write_str("no rule of this machine's policy demands an approval of it")
            }
            Self::Rejected(people) => {
                let said = |it: &Counted| match &it.note {
                    Some(note) => format!("{}: {note}", it.name),
                    None => it.name.clone(),
                };
                let said: BTreeSet<String> = people.iter().map(said).collect();
                write!(f, "rejected by {}", Vec::from_iter(said).join("; "))
            }
            Self::Ledger(error) => error.fmt(f),
            Self::KeyInReach(path) => write!(
                f,
                "every step could sign approvals with `{}`, which has no passphrase",
                path.display()
            ),
            Self::OptionForbidden(option) => {
                write!(f, "`{option}` cannot be used with a contract that needs an approval")
            }
            Self::Expired { end } => {
                let end = time_text(*end).unwrap_or_else(|| end.to_string());
                write!(f, "it expired at {end}")
            }
            Self::Used => f.write_str("this single-use contract has already been run"),
            Self::OtherOrder => f.write_str(
                "this single-use contract has already been used, by another order or directly",
            ),
            Self::ShareEnded(number) => {
                write!(f, "share {number} of this order has already run to its end here")
            }
            Self::NotPlannable { code, .. } => {
                write!(f, "no plan to compare with the contract ({code})")
            }
            Self::Targets(differences) => f.write_str(&refused(differences)),
            Self::HostKey(trouble) => write!(f, "{}", trouble.message),
            Self::Differs(compared) => f.write_str(&differs(&compared.verdict)),
            Self::PackagesChanged(names) => {
                let (code, names) = (Drift::SourceChanged, names.join(", "));
                write!(f, "packages have changed since the contract was made: {names} ({code})")
            }
            Self::SourceChanged(_) => {
                let code = Drift::SourceChanged;
                write!(f, "the source has changed since the contract was made ({code})")
            }
        }
    }
}

/// The words for a plan that is not the contract's.
#[must_use]
pub fn differs(verdict: &Verdict) -> String {
    if verdict.differences.iter().all(|one| one.machine.is_some()) {
        return refused(&verdict.differences);
    }
    let count = verdict.differences.len();
    let differences = if count == 1 { "difference" } else { "differences" };
    let code = verdict.code().map_or_else(String::new, |code| format!(" ({code})"));
    format!("the plan is not the plan of the contract: {count} {differences}{code}")
}

/// The words for targets that are not the contract's.
fn refused(differences: &[Difference]) -> String {
    let codes: BTreeSet<&str> = differences.iter().map(|one| one.code.name()).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let count = counted(differences.len(), "difference");
    format!("contract refused: {count} ({})", codes.join(", "))
}
