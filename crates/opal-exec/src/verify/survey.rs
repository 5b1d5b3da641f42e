//! A verification from outside: what it is given, and what was found.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opal_core::action::Why;
use opal_core::crossing::Crossing;
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{Key, Plan};
use opal_core::resolver::Trouble;
use opal_core::selection::Selection;
use opal_core::unreached::Unreached;
use opal_core::{Data, Registry};
use opal_session::Session;
use opal_session::stop::Stop;
use opal_session::targets::Reach;
use opal_vault::Vault;
use opal_vault::verification::Verification;

use opal_core::resource::Direction;

/// Verifications at a time, unless specified.
pub const USUAL_JOBS: usize = 16;

/// And at most, whatever anybody says.
pub(crate) const MAX_JOBS: usize = 32;

/// How long a verification may take, unless specified.
pub(crate) const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A plan whose resources are to be verified, and everything needed for that.
#[derive(Clone, Copy)]
pub struct Survey<'a> {
    pub plan: &'a Plan,
    /// By the keys of [`Plan::values`].
    pub values: &'a BTreeMap<Key, Data>,
    pub registry: &'a Registry,
    /// Shared, so that a verification that hangs in the system can be abandoned.
    pub session: &'a Arc<dyn Session + Send>,
    /// Opens sessions on targets, which only read; none where there can be none.
    pub reach: Option<&'a dyn Reach>,
    /// Where the first step is: absolute.
    pub start: &'a Path,
    /// Where relative paths of resources begin: the directory of the source. Absolute.
    pub base: &'a Path,
    /// Knows every value of the plan: see [`crate::execute::register`].
    pub vault: &'a Vault,
    pub stop: &'a Stop,
    /// Verifications at a time: [`USUAL_JOBS`], and never more than [`MAX_JOBS`].
    pub jobs: usize,
    /// For every verification, whatever its step says.
    pub timeout: Option<Duration>,
    /// The steps that are asked for. Their prerequisites are verified too, and not reported.
    pub selection: Selection<'a>,
    /// The targets that the plan has no values of.
    pub unreached: &'a Unreached,
    /// How differences are written.
    pub direction: Direction,
    /// What the digests of differences are made with.
    pub key: Option<&'a PlaceholderKey>,
    pub clock: fn() -> SystemTime,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of the plan. Where it was stopped, of those that were verified.
    pub verifications: Vec<Verification>,
    pub took: Duration,
    /// Why it did not come to its end.
    pub stopped: Option<Why>,
    /// The targets of the plan, in its order. One that several blocks name is there several times.
    pub targets: Vec<Sighting>,
}

/// A target, and why it was not reached, where it was not.
#[derive(Clone, Debug)]
pub struct Sighting {
    pub way: Vec<Crossing>,
    pub trouble: Option<Trouble>,
}

/// What happens while resources are verified.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// This resource is being verified: its id, or its path.
    Began(&'a str),
    /// It has been verified, or was given up.
    Ended(&'a Verification),
}

impl fmt::Debug for Survey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Survey")
            .field("target", &self.plan.target)
            .field("start", &self.start)
            .field("jobs", &self.jobs)
            .field("timeout", &self.timeout)
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}
