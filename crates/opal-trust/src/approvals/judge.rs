//! Whether a contract has the approvals that the rules demand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use opal_core::Duration;
use opal_core::contract::approval::{Approval, Decision};
use opal_core::hash::{Algorithm, Digest};
use opal_core::message;

use super::signer::{BadSignature, Checked, Signer, check};
use crate::keys::PublicKey;
use crate::policy::{Person, Rule, SKEW_SECONDS, identity};

/// What is known of a contract that somebody wants to run.
#[derive(Clone, Debug)]
pub struct Claim<'c> {
    /// Of the bytes of its file.
    pub contract: Digest,
    pub algorithm: Algorithm,
    pub plan_hash: Digest,
    pub target: &'c str,
    /// When it was made, in Unix seconds.
    pub made: i64,
    /// Whose signature it has.
    pub maker: Option<PublicKey>,
    /// How many of its values nobody can see in it.
    pub unseen: usize,
    /// Whether only some of its targets are to run.
    pub is_limited: bool,
    /// Now, in Unix seconds.
    pub now: i64,
}

/// An approval that counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counted {
    pub name: String,
    pub key: String,
    pub at: i64,
    pub note: Option<String>,
}

/// A line that counts for nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ignored {
    /// A name, or the fingerprint of a key.
    pub who: String,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    BadSignature(String),
    OtherContract,
    NotListed,
    TooOld,
    InTheFuture,
    NotTouched,
    IsTheMaker,
}

impl Why {
    /// The reason, lower case and without a full stop.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::BadSignature(why) => why,
            Self::OtherContract => "approves another contract",
            Self::NotListed => "unknown key: it is not in `by`",
            Self::TooOld => "older than `max_age`",
            Self::InTheFuture => "dated in the future: check the clocks of both machines",
            Self::NotTouched => "`presence` needs a hardware key that was touched",
            Self::IsTheMaker => "`not_maker`: this person made the contract",
        }
    }
}

/// What a contract lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    Approvals {
        needed: usize,
        /// Whose approvals count already.
        approved_by: Vec<String>,
        /// Whose would: their names and keys.
        accepted: Vec<String>,
        ignored: Vec<Ignored>,
    },
    /// It is signed by none of these.
    Maker {
        makers: Vec<String>,
    },
    TooOld {
        max_age: Duration,
    },
    InTheFuture {
        max_age: Duration,
    },
    /// Values that nobody can see.
    Unseen {
        count: usize,
    },
    Limit,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approvals { needed, approved_by, .. } => {
                let needed = message::counted(*needed, "approval");
                write!(f, "the contract needs {needed} and has ")?;
                match approved_by[..] {
                    [] => f.write_str("none"),
                    _ => write!(f, "{} ({})", approved_by.len(), approved_by.join(", ")),
                }
            }
            Self::Maker { .. } => {
                f.write_str("the contract is not signed by one of the `makers` of the policy")
            }
            Self::TooOld { max_age } => write!(
                f,
                "the contract is older than the approval rule allows (`max_age` is {max_age})"
            ),
            Self::InTheFuture { max_age } => {
                write!(f, "the contract is dated in the future (`max_age` is {max_age})")
            }
            Self::Unseen { count } => {
                let values = message::counted(*count, "value");
                write!(f, "the contract has {values} that nobody can see in it")
            }
            Self::Limit => f.write_str("the policy refuses `--limit` for this contract"),
        }
    }
}

impl Unmet {
    /// The way forward; none where it is an approval, whose command depends on the file.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Approvals { .. } => return None,
            Self::Maker { makers } => {
                format!("one of these must make it with `--sign KEY`: {}", makers.join(", "))
            }
            Self::TooOld { .. } => "make a new contract".to_owned(),
            Self::InTheFuture { .. } => "check the clocks of both machines".to_owned(),
            Self::Unseen { .. } => {
                "`public_values` demands values with `public=true`, which a reviewer can see"
                    .to_owned()
            }
            Self::Limit => "omit `--limit`".to_owned(),
        })
    }
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The approvals that count, enough or not.
    pub counted: Vec<Counted>,
    pub unmet: Vec<Unmet>,
}

/// Holds a contract against rules that match it: all must be met.
#[must_use]
pub fn judge(rules: &[&Rule], approvals: &[Approval], claim: &Claim<'_>) -> Judged {
    let checked: Vec<Result<Checked, BadSignature>> = approvals.iter().map(check).collect();
    let (mut counted, mut unmet) = (BTreeSet::new(), Vec::new());
    for rule in rules {
        unmet.extend(of_contract(rule, claim));
        let found = by_person(rule, &checked, claim);
        counted.extend(found.counted.values().cloned());
        if found.counted.len() < rule.needed {
            unmet.push(Unmet::Approvals {
                needed: rule.needed,
                approved_by: found.counted.into_values().map(|it| it.name).collect(),
                accepted: rule.by.iter().map(|it| format!("{} ({})", it.name, it.key)).collect(),
                ignored: found.ignored.into_iter().collect(),
            });
        }
    }
    Judged { counted: counted.into_iter().collect(), unmet }
}

/// The people whom rules list and who rejected this contract, with their lines.
#[must_use]
pub fn rejections(
    rules: &[&Rule],
    approvals: &[Approval],
    claim: &Claim<'_>,
) -> Vec<(Counted, Approval)> {
    let mut found = Vec::new();
    for approval in approvals.iter().filter(|it| it.statement.decision == Decision::Reject) {
        let Ok(checked) = check(approval) else { continue };
        let listed = rules.iter().find_map(|rule| rule.person(&checked.signer));
        let Some(person) = listed.filter(|_| is_about(&checked, claim)) else { continue };
        let one = (counted(&person.name, &checked), approval.clone());
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// What a rule has against the contract itself.
fn of_contract(rule: &Rule, claim: &Claim<'_>) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    let max_age = rule.max_age;
    match age(claim.made, claim.now, max_age) {
        Age::Fine => {}
        Age::Future => unmet.push(Unmet::InTheFuture { max_age }),
        Age::Old => unmet.push(Unmet::TooOld { max_age }),
    }
    let is_made = rule.makers.is_empty() || maker(rule, claim).is_some();
    if !is_made {
        let makers = rule.makers.iter().map(|it| format!("{} ({})", it.name, it.key)).collect();
        unmet.push(Unmet::Maker { makers });
    }
    if rule.public_values && claim.unseen > 0 {
        unmet.push(Unmet::Unseen { count: claim.unseen });
    }
    if rule.refuses_limit && claim.is_limited {
        unmet.push(Unmet::Limit);
    }
    unmet
}

/// The key of whoever made it, where the rule lists it.
fn maker(rule: &Rule, claim: &Claim<'_>) -> Option<Signer> {
    let key = Signer::from(claim.maker?);
    rule.makers.iter().any(|it| it.key == key).then_some(key)
}

/// Whether somebody made it: it has the signature of the same key, or of any other of their keys.
fn is_maker(rule: &Rule, claim: &Claim<'_>, signer: &Signer, who: &str) -> bool {
    let Some(key) = maker(rule, claim) else { return false };
    let owners = rule.makers.iter().chain(&rule.by).filter(|it| it.key == key);
    key == *signer || owners.map(Person::identity).any(|it| it == identity(who))
}

#[derive(Default)]
struct Found {
    /// By what the spellings of a name have in common: two keys of one person are one person.
    counted: BTreeMap<String, Counted>,
    ignored: BTreeSet<Ignored>,
}

fn by_person(rule: &Rule, all: &[Result<Checked, BadSignature>], claim: &Claim<'_>) -> Found {
    let mut found = Found::default();
    for line in all {
        let checked = match line {
            Ok(checked) => checked,
            Err(why) => {
                let why = Why::BadSignature(why.to_string());
                found.ignored.insert(Ignored { who: "a line".into(), why });
                continue;
            }
        };
        if checked.statement.decision != Decision::Approve {
            continue;
        }
        let person = rule.person(&checked.signer);
        let who = person.map_or_else(|| checked.signer.fingerprint(), |it| it.name.clone());
        match ignored(rule, checked, person.is_some(), &who, claim) {
            Some(why) => {
                found.ignored.insert(Ignored { who, why });
            }
            None => {
                let one = counted(&who, checked);
                found.counted.entry(identity(&who)).or_insert(one);
            }
        }
    }
    let Found { counted, ignored } = &mut found;
    // Somebody whose other line counts needs no explanation.
    ignored.retain(|it| !counted.contains_key(&identity(&it.who)));
    found
}

fn ignored(
    rule: &Rule,
    checked: &Checked,
    is_listed: bool,
    who: &str,
    claim: &Claim<'_>,
) -> Option<Why> {
    if !is_about(checked, claim) {
        return Some(Why::OtherContract);
    }
    if !is_listed {
        return Some(Why::NotListed);
    }
    if rule.presence && !checked.touched {
        return Some(Why::NotTouched);
    }
    if rule.not_maker && is_maker(rule, claim, &checked.signer, who) {
        return Some(Why::IsTheMaker);
    }
    match age(checked.statement.at, claim.now, rule.max_age) {
        Age::Fine => None,
        Age::Future => Some(Why::InTheFuture),
        Age::Old => Some(Why::TooOld),
    }
}

fn is_about(checked: &Checked, claim: &Claim<'_>) -> bool {
    let statement = &checked.statement;
    statement.contract == claim.contract
        && (statement.algorithm, statement.plan_hash) == (claim.algorithm, claim.plan_hash)
        && statement.target == claim.target
}

fn counted(name: &str, checked: &Checked) -> Counted {
    Counted {
        name: name.to_owned(),
        key: checked.signer.to_string(),
        at: checked.statement.at,
        note: checked.statement.note.clone(),
    }
}

enum Age {
    Fine,
    Future,
    Old,
}

fn age(then: i64, now: i64, max: Duration) -> Age {
    let age = now.saturating_sub(then);
    if age < -SKEW_SECONDS {
        Age::Future
    } else if age.saturating_mul(1_000_000_000) > max.as_nanos() {
        Age::Old
    } else {
        Age::Fine
    }
}
