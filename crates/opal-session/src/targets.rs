//! Sessions on targets, as whoever runs or verifies steps asks for them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use opal_core::contract::TargetRecord;
use opal_core::crossing::Crossing;
use opal_core::hash::Algorithm;
use opal_core::placeholder::PlaceholderKey;
use opal_core::resolver::{Probe, Trouble};
use opal_core::target::{Hop, Identity};

use crate::stop::Stop;
use crate::{Session, Terminal};

/// Opens sessions on targets.
pub trait Reach: Send + Sync + fmt::Debug {
    /// The session at the end of a way, one crossing after the other. The same way gives the same
    /// session as long as its connection holds.
    fn reach(&self, way: &[Crossing], access: Access, stop: &Stop) -> Result<Reached, Trouble>;

    /// Whether the user's settings for targets can be used. It is asked before a run that has any.
    fn check(&self) -> Result<(), Trouble> {
        Ok(())
    }

    /// Opal's terminal, for commands on targets that one sits in front of.
    fn lend(&self, terminal: Arc<Terminal>) {
        let _ = terminal;
    }

    /// The machine at the end of a way, to be read while planning.
    fn look(&self, way: &[Crossing]) -> Result<Box<dyn Probe>, Trouble>;

    /// From now on connections lead only to whom `trust` permits. It is said before the first one.
    fn hold(&self, trust: Trust) {
        let _ = trust;
    }

    /// Who answered first at the end of a way; none where nobody has.
    fn identity(&self, way: &[Crossing]) -> Option<Identity> {
        let _ = way;
        None
    }

    /// Every target that was not reached or not accepted, once each, in the order of their names.
    fn refused(&self) -> Vec<Refused> {
        Vec::new()
    }
}

/// What a session is for. One that only reads cannot express an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    ReadOnly,
    Acting,
}

/// A target with a session on it.
#[derive(Clone, Debug)]
pub struct Reached {
    pub session: Arc<dyn Session + Send>,
    /// Where steps start there: absolute.
    pub start: PathBuf,
}

/// Whom connections to targets may lead to.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// The user's own configuration decides, for a run without a contract.
    #[default]
    Users,
    /// Only hosts that are known, and their keys are reported: for making a contract.
    Reported,
    /// Only those that answered when the contract was made.
    Contract(Arc<Contracted>),
}

/// The targets of a contract.
#[derive(Debug)]
pub struct Contracted {
    /// By transport.
    pub records: BTreeMap<Vec<String>, TargetRecord>,
    pub algorithm: Algorithm,
    /// What the digests of machines are made with.
    pub key: PlaceholderKey,
    /// Whether another one is accepted too, unless `ssh` refuses its key.
    pub is_forced: bool,
}

/// A target that was not reached, or not accepted.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The names of the targets on the way, with `/` between them.
    pub target: String,
    /// How it is reached, one crossing after the other.
    pub transport: Vec<String>,
    pub why: Refusal,
}

#[derive(Clone, Debug)]
pub enum Refusal {
    /// Nobody has answered.
    Unreachable(Trouble),
    /// `ssh` refuses the key of the host.
    Key(Trouble),
    /// Somebody else has answered than when the contract was made: in what it differs.
    Changed(Vec<String>),
}

impl Contracted {
    /// The record of a target that is reached in this way.
    #[must_use]
    pub fn record(&self, transport: &[String]) -> Option<&TargetRecord> {
        self.records.get(transport)
    }
}

/// What messages call a way: the names of its targets, with `/` between them.
#[must_use]
pub fn label(way: &[Crossing]) -> String {
    let names: Vec<&str> = way.iter().map(|it| it.target.name.as_str()).collect();
    names.join("/")
}

/// How the end of a way is reached, one crossing after the other.
#[must_use]
pub fn transport(way: &[Crossing]) -> Vec<String> {
    way.iter().map(|crossing| crossing.target.transport()).collect()
}

/// Whether a way leads to another machine or container: a contract does not fix opal's own, since
/// it may be run on several machines.
#[must_use]
pub fn leaves_origin(way: &[Crossing]) -> bool {
    way.iter().any(|crossing| !matches!(crossing.target.hop, Hop::Local | Hop::User { .. }))
}
