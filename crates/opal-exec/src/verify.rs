//! Looks at the resources of a plan, side by side, and changes nothing.
//!
//! ```text
//! Plan ──rehearse──▶ resources, each with its directory and environment
//!      ──round─────▶ the next whose prerequisites are known ──crew──▶ look ──scrub──▶ Verification
//! ```
//!
//! | what | where |
//! |---|---|
//! | where each resource stands: wrappers act on a stage on which nothing happens | `rehearse`, `pretend` |
//! | which look comes next, and what it has found, safe to show | `round` |
//! | threads that look, and are left behind where they do not answer | `crew` |
//! | one look, cut off in time | `look`, `watched` |
//! | what was found, safe to show, and which way a difference is read | `details`, `direction` |
//!
//! There are no retries, and one error never hides another. Prerequisites are verified first. A step
//! whose prerequisite is missing or blocked is verified too: where that gives an answer, the answer is
//! reported with a note; where it does not, the step is blocked by its prerequisite. A drifted
//! prerequisite changes nothing. What a quick plan left open is unknown.
//!
//! Deliberately not here: acting. The executor looks again right before it acts, with the same `look`.

mod crew;
pub(crate) mod details;
mod direction;
mod look;
mod pretend;
mod rehearse;
mod round;
mod watched;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use opal_core::action::Why;
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{Key, Plan};
use opal_core::{Data, Registry};
use opal_vault::verification::Verification;

use crate::execute::Unready;
use opal_core::selection::Selection;
use opal_session::Session;
use opal_session::stop::Stop;
use opal_vault::Vault;

pub(crate) use details::Sight;
pub use direction::Direction;
pub(crate) use look::{Look, limit, look};

/// Looks that are under way at a time, unless somebody says so.
pub const USUAL_JOBS: usize = 16;

/// And at most, whatever anybody says.
pub const MAX_JOBS: usize = 32;

/// How long a look may take, unless somebody says so.
pub const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A plan whose resources are to be looked at, and all that takes part in it.
#[derive(Clone, Copy)]
pub struct Survey<'a> {
    pub plan: &'a Plan,
    /// By the keys of [`Plan::values`].
    pub values: &'a BTreeMap<Key, Data>,
    pub registry: &'a Registry,
    /// Shared, so that a look that hangs in the system can be left behind.
    pub session: &'a Arc<dyn Session + Send>,
    /// Where the first step stands: absolute.
    pub start: &'a Path,
    /// Where relative paths of resources begin: the directory of the source. Absolute.
    pub base: &'a Path,
    /// Knows every value of the plan: see [`crate::execute::register`].
    pub vault: &'a Vault,
    pub stop: &'a Stop,
    /// Looks at a time: [`USUAL_JOBS`], and never more than [`MAX_JOBS`].
    pub jobs: usize,
    /// For every look, whatever its step says.
    pub timeout: Option<Duration>,
    /// The steps that are asked for. Their prerequisites are verified too, and not reported.
    pub selection: Selection<'a>,
    /// How differences are written.
    pub direction: Direction,
    /// What the digests of differences are made with.
    pub key: Option<&'a PlaceholderKey>,
    pub clock: fn() -> SystemTime,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of the plan. Where it was stopped, of those that were looked at.
    pub verifications: Vec<Verification>,
    pub took: Duration,
    /// Why it did not come to its end.
    pub stopped: Option<Why>,
}

/// What happens while resources are verified.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// This resource is being verified: its id, or its path.
    Began(&'a str),
    /// It has been verified, or was given up.
    Ended(&'a Verification),
}

/// Verifies every resource of a plan. `tell` hears of each, prerequisites that were not selected
/// included, in no order, and from this thread.
pub fn verify(
    survey: &Survey<'_>,
    tell: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Report, Unready> {
    let since = Instant::now();
    let found = rehearse::rehearse(survey);
    let round = round::Round::new(survey, &found, tell)?;
    let (verifications, stopped) = round.run();
    Ok(Report { verifications, took: since.elapsed(), stopped })
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
