//! Verifies the resources of a plan, in parallel, and changes nothing.
//!
//! ```text
//! Plan ──rehearse──▶ resources, each with its directory and environment
//!      ──round─────▶ the next whose prerequisites are known ──crew──▶ resource ──scrub──▶ Verification
//! ```
//!
//! | what | where |
//! |---|---|
//! | a verification from outside: what it is given, what was found | `survey` |
//! | where each resource is: wrappers act on a stage on which nothing happens | `rehearse`, `pretend` |
//! | which resource is verified next, and what was found, safe to show | `round` |
//! | threads that verify, abandoned where they do not answer | `crew` |
//! | how many verify at a time, on each machine | `machines` |
//! | one verification, with a time limit | `resource`, `watched` |
//! | what was found, safe to show | `details` |
//! | what a contract keeps of it | `digests` |
//!
//! There are no retries, and one error never hides another. Prerequisites are verified first. A step
//! whose prerequisite is missing or blocked is verified too: where that gives an answer, the answer is
//! reported with a note; where it does not, the step is blocked by its prerequisite. A drifted
//! prerequisite changes nothing. What a quick plan left open is unknown.
//!
//! Deliberately not here: acting. The executor looks again right before it acts, with the same `resource`.

mod crew;
pub(crate) mod details;
mod digests;
mod machines;
mod pretend;
mod rehearse;
pub(crate) mod resource;
mod round;
pub(crate) mod survey;
mod watched;

use std::time::Instant;

use opal_core::unready::Unready;

pub use opal_core::resource::Direction;
pub use survey::{Progress, Report, Sighting, Survey, USUAL_JOBS};

/// Verifies every resource of a plan. `tell` hears of each, prerequisites that were not selected
/// included, in no order, and from this thread.
pub fn verify(
    survey: &Survey<'_>,
    tell: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Report, Unready> {
    let since = Instant::now();
    let (found, targets) = rehearse::rehearse(survey);
    let round = round::Round::new(survey, &found, tell)?;
    let (verifications, stopped) = round.run();
    Ok(Report { verifications, took: since.elapsed(), stopped, targets })
}
