//! States of the world: what a resource is, and what a verification of it reports.
//!
//! A resource is a decorator with two powers that never meet. Its [`Verify`] gets a [`Probe`], which
//! has no function that changes anything; its [`Action`](crate::action::Action) gets a
//! [`Stage`](crate::action::Stage) and acts. The laws:
//!
//! - **R1, the same twice.** Two verifications of the same world find the same.
//! - **R2, no effect.** A check leaves every byte, mode and time as it was.
//! - **R3, reached.** After the action, a check says satisfied; where nobody can tell, unknown.
//! - **R4, once.** A second action after the first changes nothing.
//! - **R5, blocked stays.** What is blocked is never acted on.
//! - **R6, reasons.** What is blocked names the thing and the reason, and says what to do.
//!
//! `opal_testing::conformance::check_resource` finds who breaks them.

pub mod details;
mod identity;

use std::fmt;

use crate::data::{Data, Secret};
use crate::hash::Digest;
use crate::resolver::{Inputs, Probe, Trouble};

pub use details::{Details, Direction};
pub use identity::{
    Described, depends_on, described, id, is_object, is_placed, key, label, name, placed,
    runs_command, thing, title,
};

/// Verifies a state of the world and changes nothing.
pub trait Verify: Sync + fmt::Debug {
    /// An error means blocked: its message names the thing and the reason.
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble>;

    /// The content of a finding that takes long to read, for a contract: what is found without one
    /// does not wait for it.
    fn content(&self, _: &Inputs, _: &dyn Probe) -> Result<Option<Digest>, Trouble> {
        Ok(None)
    }

    /// Whether a contract compares what is found.
    fn is_compared(&self) -> bool {
        true
    }

    /// Whether its action verifies by itself, since its block runs whatever the state is.
    fn is_by_action(&self) -> bool {
        false
    }

    /// Whether it is verified again after its action; otherwise the action sees to it.
    fn is_verified_after(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It is in the desired state.
    Satisfied,
    /// Not there.
    Missing,
    /// There, and different.
    Drifted,
    /// It cannot be verified.
    Blocked,
    /// Nobody can tell.
    Unknown,
}

impl Status {
    pub const ALL: [Self; 5] =
        [Self::Satisfied, Self::Missing, Self::Drifted, Self::Blocked, Self::Unknown];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Satisfied => "satisfied",
            Self::Missing => "missing",
            Self::Drifted => "drifted",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// What a check has found. Raw: it may name values, and a diff may hold them.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Blocked only by [`Finding::blocked`]: where nothing can be compared, it is a [`Trouble`].
    pub status: Status,
    /// One line, lower case, without a full stop.
    pub message: Secret,
    /// What differs, or what else is to be said in several lines.
    pub details: Option<Details>,
    /// A digest of what the action would apply, and of what is there in its place, where the
    /// details do not say all of it: a contract holds a later check against it. Where it takes long
    /// to read, [`Verify::content`] gives it instead.
    pub content: Option<Digest>,
    /// What lines that are there, and none are expected instead of, may be an older form of.
    pub removed: Option<Secret>,
    /// Why an apply will not correct it, where it will not; of what is blocked, the reason.
    pub refusal: Option<Trouble>,
    /// Which object of the world was found, where it has an identity of its own.
    pub object: Option<FoundObject>,
    /// The entry of what was found, where a run should remember it in its new form.
    pub renewed: Option<(Digest, Vec<u8>)>,
}

/// An object of the world.
#[derive(Clone, Debug, Default)]
pub struct FoundObject {
    /// What a step gives that describes it.
    pub data: Option<Data>,
    /// What the world calls it. A contract is about this object and no other.
    pub identity: Option<Secret>,
    /// Whose it is: an account, a cluster.
    pub account: Option<Secret>,
}

impl Finding {
    #[must_use]
    pub fn satisfied(message: impl Into<String>) -> Self {
        Self::new(Status::Satisfied, message)
    }

    #[must_use]
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(Status::Missing, message)
    }

    #[must_use]
    pub fn drifted(message: impl Into<String>) -> Self {
        Self::new(Status::Drifted, message)
    }

    #[must_use]
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::new(Status::Unknown, message)
    }

    /// What was compared, and must not be changed. The details say what differs, for whoever decides.
    #[must_use]
    pub fn blocked(why: Trouble) -> Self {
        let message = String::from(why.message.clone());
        Self::new(Status::Blocked, message).with_refusal(Some(why))
    }

    /// What may be acted on, or why nothing may.
    pub fn decided(mut self) -> Result<Self, Trouble> {
        match self.refusal.take_if(|_| self.status == Status::Blocked) {
            Some(why) => Err(why),
            None => Ok(self),
        }
    }

    #[must_use]
    pub fn with_details(mut self, details: Details) -> Self {
        self.details = Some(details);
        self
    }

    #[must_use]
    pub fn with_content(mut self, content: Digest) -> Self {
        self.content = Some(content);
        self
    }

    #[must_use]
    pub fn with_removed(mut self, line: impl Into<String>) -> Self {
        self.removed = Some(Secret::new(line));
        self
    }

    /// A run remembers this.
    #[must_use]
    pub fn with_renewed(mut self, renewed: Option<(Digest, Vec<u8>)>) -> Self {
        self.renewed = renewed;
        self
    }

    /// An apply will fail, and say this.
    #[must_use]
    pub fn with_refusal(mut self, refusal: Option<Trouble>) -> Self {
        self.refusal = refusal;
        self
    }

    fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: Secret::new(message),
            details: None,
            content: None,
            removed: None,
            refusal: None,
            object: None,
            renewed: None,
        }
    }
}
