//! Verifying the resources of a plan, for `opal verify`, `--verify-first` and `--dry-run`.

use std::collections::BTreeSet;
use std::time::Duration;

use opal_exec::verify::{Direction, Report};
use opal_ops::planning::{Program, Subject};
use opal_ops::resources::{Counts, VerifyRequest};
use opal_plan::plan::{Purpose, Resolved};
use opal_session::stop::Stop;
use opal_vault::Vault;

use crate::context::Context;
use crate::failure::{Exit, Failure, Stopped};
use crate::options::Asked;
use crate::planning;
use crate::signals::Watched;
use crate::view::verify::Progress;

/// What is verified, and how.
pub(crate) struct Survey<'s> {
    pub(crate) context: &'s Context<'s>,
    pub(crate) asked: &'s Asked,
    pub(crate) subject: &'s Subject<'s>,
    pub(crate) resolved: &'s Resolved,
    pub(crate) vault: &'s Vault,
    pub(crate) stop: &'s Stop,
    /// For every resource.
    pub(crate) timeout: Option<Duration>,
    pub(crate) direction: Direction,
}

impl Survey<'_> {
    /// Verifies, with a sign of life where that takes longer than a moment.
    pub(crate) fn take(&self) -> Result<Report, Failure> {
        let &Self { context, asked, resolved, vault, stop, timeout, direction, .. } = self;
        let selected = selected(context, asked, resolved)?;
        let total = match &selected {
            Some(selected) => selected.len(),
            None => Counts::of(&resolved.plan, &context.registry).resources,
        };
        let is_counted = |path: &str| selected.as_ref().is_none_or(|paths| paths.contains(path));
        let progress = Progress::begin(total, context.ambient.can_redraw() && !asked.run.quiet);
        let jobs = asked.run.jobs.map(Into::into);
        let (selection, key) = (asked.selection(), None);
        let registry = &context.registry;
        let look = VerifyRequest {
            resolved,
            registry,
            vault,
            stop,
            jobs,
            timeout,
            selection,
            direction,
            key,
        };
        let place = planning::place(self.subject, context, &asked.plan)?;
        look.take(&place, &|news| progress.heard(news, is_counted)).map_err(Failure::unready)
    }
}

/// The limit of `--timeout`, which is for every resource.
pub(crate) fn limit(asked: &Asked) -> Option<Duration> {
    asked.run.timeout.map(|limit| Duration::from_nanos(limit.as_nanos().unsigned_abs()))
}

/// The plan with every value that its resources need, for which nothing is left behind.
pub(crate) fn plan(
    context: &Context<'_>,
    subject: &Subject<'_>,
    program: &Program,
    asked: &Asked,
    watched: &Watched,
) -> Result<Resolved, Stopped> {
    let options = &asked.plan;
    let mut keys = planning::passing_keys(subject, context, options);
    let aim = asked.aim(Purpose::Verify);
    let resolved = planning::plan(subject, context, program, options, aim, &mut keys, watched)?;
    // A check that the shell cannot read would look like one that fails.
    let world = planning::world(subject, context, options)?.stopped_by(watched.stop());
    planning::demand_syntax(subject, context, options, &resolved, &world)?;
    Ok(resolved)
}

/// The paths of the resources that were selected; none where nothing was said.
pub(crate) fn selected(
    context: &Context<'_>,
    asked: &Asked,
    resolved: &Resolved,
) -> Result<Option<BTreeSet<Box<str>>>, Failure> {
    if asked.selection().is_all() {
        return Ok(None);
    }
    let paths = asked.selection().paths(&resolved.plan, &resolved.secrets, &context.registry);
    paths.map(Some).map_err(|unready| Failure::unready(unready.trouble))
}

/// A verification that a signal has ended.
pub(crate) fn interrupted(exit: Exit, report: &Report, counts: Counts) -> Failure {
    let (seen, all) = (report.verifications.len(), counts.resources);
    let message = format!("interrupted: {seen} of {all} were verified, and nothing was changed");
    Failure::new(exit, message, "verify again, or only some of them: `opal verify … --only ID`")
}
