//! Verifying the resources of a plan: for `opal verify`, before an apply, for contracts and after
//! their runs.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opal_core::Registry;
use opal_core::contract::Seen;
use opal_core::gather::Gather as _;
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{Plan, Step};
use opal_core::resolver::Trouble;
use opal_core::resource;
use opal_core::selection::Selection;
use opal_exec::execute;
use opal_exec::verify::{self, Direction, Progress, Report, Survey, USUAL_JOBS};
use opal_plan::plan::Resolved;
use opal_session::Session;
use opal_session::stop::Stop;
use opal_session::targets::Reach;
use opal_vault::Vault;
use opal_vault::verification::Verification;

use crate::targets::has_targets;

/// Where the steps of a plan would run.
pub struct Place<'p> {
    /// Opens a session, which ends with its last user. Not called where there is nothing to verify.
    pub session: Box<dyn Fn() -> Arc<dyn Session + Send> + 'p>,
    /// Opens sessions on targets; none where there can be none.
    pub reach: Option<Arc<dyn Reach>>,
    /// Where the first step starts: absolute.
    pub start: PathBuf,
    /// Where relative paths of resources begin: absolute.
    pub base: PathBuf,
    pub clock: fn() -> SystemTime,
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &mut f.debug_struct("Place");
        place.field("start", &self.start).field("base", &self.base).finish_non_exhaustive()
    }
}

/// What is verified, and how.
#[derive(Debug)]
pub struct VerifyRequest<'l> {
    pub resolved: &'l Resolved,
    pub registry: &'l Registry,
    /// Knows the values of the plan.
    pub vault: &'l Vault,
    pub stop: &'l Stop,
    /// Checks a time.
    pub jobs: Option<usize>,
    /// For every verification.
    pub timeout: Option<Duration>,
    pub selection: Selection<'l>,
    /// How differences are written.
    pub direction: Direction,
    /// What differences are distinguished with, for a contract.
    pub key: Option<&'l PlaceholderKey>,
}

impl VerifyRequest<'_> {
    /// Verifies in a session of its own. What stops it as a whole holds no value.
    pub fn take(
        &self,
        place: &Place<'_>,
        tell: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Report, Trouble> {
        if let Some(reach) = place.reach.as_ref().filter(|_| has_targets(&self.resolved.plan)) {
            // One error, and not one for each target.
            reach.check()?;
        }
        let session = (place.session)();
        let survey = Survey {
            plan: &self.resolved.plan,
            values: &self.resolved.secrets,
            registry: self.registry,
            session: &session,
            reach: place.reach.as_deref(),
            start: &place.start,
            base: &place.base,
            vault: self.vault,
            stop: self.stop,
            jobs: self.jobs.unwrap_or(USUAL_JOBS),
            timeout: self.timeout,
            selection: self.selection,
            unreached: &self.resolved.unreached,
            direction: self.direction,
            key: self.key,
            clock: place.clock,
        };
        verify::verify(&survey, tell).map_err(|unready| unready.trouble)
    }
}

/// All resources and targets of a plan, for a contract whose placeholders are made with `key`.
pub fn of_contract(
    resolved: &Resolved,
    registry: &Registry,
    key: &PlaceholderKey,
    place: &Place<'_>,
    stop: &Stop,
) -> Result<Report, Trouble> {
    if !has_resources(&resolved.plan, registry) && !has_targets(&resolved.plan) {
        return Ok(Report::default());
    }
    let vault = Vault::new();
    execute::register_planned(&vault, &resolved.plan, &resolved.showing);
    let request = VerifyRequest {
        resolved,
        registry,
        vault: &vault,
        stop,
        jobs: None,
        timeout: None,
        selection: Selection::default(),
        direction: Direction::Report,
        key: Some(key),
    };
    request.take(place, &|_| {})
}

/// What a contract or a record keeps of a report.
#[must_use]
pub fn seen(report: &Report) -> Vec<Seen> {
    let seen = |it: &Verification| Seen {
        path: match &it.target {
            Some(target) => format!("{target}:{}", it.path).into(),
            None => it.path.clone(),
        },
        status: it.status,
        details: it.digest.clone(),
        identity: it.identity,
        account: it.account,
        by_prerequisite: it.blocked.as_ref().is_some_and(|blocked| blocked.by_prerequisite),
    };
    report.verifications.iter().map(seen).collect()
}

/// Whether there is anything to verify.
#[must_use]
pub fn has_resources(plan: &Plan, registry: &Registry) -> bool {
    plan.all_steps().any(|step| resource::described(step, registry).is_some())
}

/// What a plan consists of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Steps that describe something.
    pub resources: usize,
    /// Steps that only do something.
    pub others: usize,
}

impl Counts {
    #[must_use]
    pub fn of(plan: &Plan, registry: &Registry) -> Self {
        let mut counts = Self::default();
        counts.add(&plan.steps, registry, false);
        counts
    }

    fn add(&mut self, steps: &[Step], registry: &Registry, is_inside: bool) {
        for step in steps {
            let is_resource = resource::described(step, registry).is_some();
            if is_resource {
                self.resources += 1;
            } else if step.is_leaf() && !is_inside {
                self.others += 1;
            }
            // What the block of a resource does is part of it.
            self.add(&step.block, registry, is_inside || is_resource);
        }
    }
}

/// The paths of the steps that describe something.
#[must_use]
pub fn described(plan: &Plan, registry: &Registry) -> BTreeSet<Box<str>> {
    let described = plan.all_steps().filter(|step| resource::described(step, registry).is_some());
    described.map(|step| step.path.clone()).gathered()
}

/// A vault that knows the values of a plan.
#[must_use]
pub fn vault(resolved: &Resolved) -> Vault {
    let vault = Vault::new();
    execute::register(&vault, &resolved.showing);
    vault
}
