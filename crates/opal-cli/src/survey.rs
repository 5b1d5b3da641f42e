//! A look at the resources of a plan from the command line: for `opal verify`, before an apply, for
//! contracts and after their runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opal_core::contract::Seen;
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{Plan, Step};
use opal_core::resolver::Trouble;
use opal_core::resource::{self, Verification};
use opal_core::selection::Selection;
use opal_exec::verify::{self, Direction, Progress, Report, Survey, USUAL_JOBS};
use opal_plan::plan::Resolved;
use opal_session::stop::Stop;
use opal_session::{LocalSession, Session, Setup};
use opal_vault::Vault;

use crate::dispatch::Context;
use crate::failure::Failure;
use crate::options::PlanOptions;
use crate::planning::Subject;

/// What is looked at, and how.
#[derive(Debug)]
pub(crate) struct Look<'l> {
    pub(crate) subject: &'l Subject<'l>,
    pub(crate) resolved: &'l Resolved,
    /// Knows the values of the plan.
    pub(crate) vault: &'l Vault,
    pub(crate) stop: &'l Stop,
    /// Looks at a time.
    pub(crate) jobs: Option<usize>,
    /// For every look.
    pub(crate) timeout: Option<Duration>,
    pub(crate) selection: Selection<'l>,
    /// How differences are written.
    pub(crate) direction: Direction,
    /// What differences are told apart with, for a contract.
    pub(crate) key: Option<&'l PlaceholderKey>,
}

impl Look<'_> {
    /// Looks from a session of its own, which ends with it.
    pub(crate) fn take(
        &self,
        context: &Context<'_>,
        options: &PlanOptions,
        tell: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Report, Failure> {
        let start = self.subject.start()?;
        let base = self.subject.base()?;
        let session: Arc<dyn Session + Send> = Arc::new(LocalSession::new(Setup {
            environment: context.environment(&options.env_files)?.clone(),
            start: start.clone(),
            home: context.ambient.home.clone(),
            marker: u32::from_le_bytes(opal_trust::keys::name()).to_string(),
            terminal: None,
        }));
        let survey = Survey {
            plan: &self.resolved.plan,
            values: &self.resolved.secrets,
            registry: &context.registry,
            session: &session,
            start: &start,
            base: &base,
            vault: self.vault,
            stop: self.stop,
            jobs: self.jobs.unwrap_or(USUAL_JOBS),
            timeout: self.timeout,
            selection: self.selection,
            direction: self.direction,
            key: self.key,
            clock: SystemTime::now,
        };
        verify::verify(&survey, tell).map_err(|unready| {
            // Of the plan as a whole, or of what was asked for: it holds no value.
            let Trouble { message, help, .. } = unready.trouble;
            Failure { help, ..Failure::usage(message, "") }
        })
    }
}

/// What a contract or a record keeps of a report.
pub(crate) fn seen(report: &Report) -> Vec<Seen> {
    let seen = |it: &Verification| Seen {
        path: it.path.clone(),
        status: it.status,
        details: it.digest.clone(),
        by_prerequisite: it.blocked.as_ref().is_some_and(|blocked| blocked.by_prerequisite),
    };
    report.verifications.iter().map(seen).collect()
}

/// Whether there is anything to look at.
pub(crate) fn has_resources(context: &Context<'_>, plan: &Plan) -> bool {
    fn any(steps: &[Step], is: &impl Fn(&Step) -> bool) -> bool {
        steps.iter().any(|step| is(step) || any(&step.block, is))
    }
    any(&plan.steps, &|step| resource::described(step, &context.registry).is_some())
}
