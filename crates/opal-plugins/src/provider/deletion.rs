//! What may be deleted: a fixed object in a fixed account, or what a person has agreed to.
//!
//! The account is the contract's, or the one that the block of the provider expects, or there is none. The
//! object is the one that its arguments identify, or the contract's. A tag can be moved, so what is found
//! by one is not fixed.

use opal_core::data::{Data, Secret};
use opal_core::protocol::call;
use opal_core::resolver::{Inputs, Trouble, TroubleKind};

/// What is said about the account of an object that has none, because it is on this machine.
const LOCAL: &str = "local";
const ACCOUNT: &str = "account:";

/// An object that a step would delete.
#[derive(Clone, Debug)]
pub struct Deletion {
    /// The path of the step.
    pub step: String,
    /// The type: `aws_vpc`.
    pub of: String,
    pub identity: Secret,
    pub account: Option<Secret>,
    pub created: Option<Secret>,
    /// What is not fixed about it.
    pub doubt: Option<Doubt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Nobody said which account is meant.
    Account,
    /// It was found by a tag.
    Tag,
}

impl Deletion {
    /// What a verification found that an apply would delete; none where it would delete nothing.
    /// `is_held`: a contract is about this object in this account.
    pub(super) fn of(
        found: &call::Finding,
        of: &str,
        inputs: &Inputs,
        is_held: bool,
    ) -> Result<Option<Self>, Trouble> {
        if found.deletes != Some(true) {
            return Ok(None);
        }
        let account = found.account.as_ref().map(Secret::expose);
        let named = account.and_then(|account| account.strip_prefix(ACCOUNT));
        let expected = match inputs.settings().and_then(|settings| settings.get("expect")) {
            Some(Data::Map(expected)) => expected.get(ACCOUNT.trim_end_matches(':')),
            _ => None,
        };
        let expected = expected.and_then(Data::as_text);
        if let Some(expected) = expected {
            check(of, expected, named, account)?;
        }
        let is_marked = found.marked != Some(false);
        let doubt = match account {
            Some(LOCAL) => None,
            Some(_) if is_held => None,
            _ if expected.is_none() => Some(Doubt::Account),
            _ if is_marked => Some(Doubt::Tag),
            _ => None,
        };
        let nameless = || Secret::new("without an identity");
        Ok(Some(Self {
            step: inputs.step.as_deref().unwrap_or_default().to_owned(),
            of: of.to_owned(),
            identity: found.identity.clone().unwrap_or_else(nameless),
            account: named.map(Secret::new),
            created: found.created.clone(),
            doubt,
        }))
    }

    /// Whether they are about the same object.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let text = |secret: &Option<Secret>| secret.as_ref().map(|it| it.expose().to_owned());
        self.step == other.step
            && self.of == other.of
            && self.identity.expose() == other.identity.expose()
            && text(&self.account) == text(&other.account)
    }

    /// Why it is not deleted.
    pub(super) fn refused(&self) -> Trouble {
        let of = &self.of;
        let (why, help) = match self.doubt {
            Some(Doubt::Tag) => (
                "was found by its tag, which others can move",
                "name it with `adopt=`, run a contract, or confirm it on a terminal",
            ),
            _ => (
                "may be in another account than you mean",
                "name the account in the block of the provider: `expect={account: \"ID\"}`",
            ),
        };
        let message = format!("`{of}` is not deleted: it {why}, and nobody has confirmed it");
        Trouble::new(TroubleKind::Denied, message, help)
    }
}

/// An account, as people read it.
pub(super) fn named_account(account: Option<&Secret>) -> String {
    match account.map(Secret::expose) {
        None => "account not checked".to_owned(),
        Some(LOCAL) => "this machine".to_owned(),
        Some(account) => format!("account {}", account.strip_prefix(ACCOUNT).unwrap_or(account)),
    }
}

/// Whether the account is the expected one.
fn check(
    of: &str,
    expected: &str,
    named: Option<&str>,
    account: Option<&str>,
) -> Result<(), Trouble> {
    let denied = |message: String, help: &str| {
        Err(Trouble::new(TroubleKind::Denied, message, help.to_owned()))
    };
    match (named, account) {
        (Some(named), _) if named == expected => Ok(()),
        (Some(_), _) => denied(
            format!("`{of}` is not deleted: it is in another account than `expect` says"),
            "use the credentials of that account",
        ),
        (None, Some(_)) => Ok(()),
        (None, None) => denied(
            format!("`{of}` is not deleted: nobody reports its account"),
            "name a data source that does so: `where` in `[terraform.recipes]` of opal.mod",
        ),
    }
}
