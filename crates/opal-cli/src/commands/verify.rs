//! `opal verify`: a look at what a task or a configuration describes. Nothing is changed anywhere, and
//! nothing is kept: no record, and no key is made.

use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::time::Duration;

use clap::ArgMatches;
use opal_core::plan::{Plan, Step};
use opal_core::resource;
use opal_core::{Registry, Value};
use opal_exec::execute;
use opal_exec::verify::{Direction, Report};
use opal_ops::planning::{Program, Subject};
use opal_ops::resources::Look;
use opal_plan::plan::{Purpose, Resolved};
use opal_session::stop::Stop;
use opal_vault::Vault;

use super::task;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning::{self, Outcome};
use crate::signals::Watched;
use crate::tasks;
use crate::view::verify::{Findings, Progress};
use crate::{project, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match task::typed(context, matches, task::Wish::Verify) {
        Ok(exit) => Ok(of_look(exit)),
        Err(failure) => Err(Failure { exit: of_look(failure.exit), ..failure }),
    }
}

/// 2 for whatever is wrong with what was given, 3 where it could not be done.
fn of_look(exit: Exit) -> Exit {
    match exit {
        Exit::Source | Exit::NoFile => Exit::Usage,
        Exit::NoValue
        | Exit::Unavailable
        | Exit::Write
        | Exit::Refused
        | Exit::NotTrusted
        | Exit::Configuration => Exit::NotLooked,
        exit => exit,
    }
}

/// Looks at the resources of `subject`.
pub(crate) fn verify(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
) -> Result<Exit, Failure> {
    asked.for_verify()?;
    let program = match planning::check(subject, context, asked.plan.is_json())? {
        // The process ends soon after: it frees it all at once.
        Ok(program) => ManuallyDrop::new(program),
        Err(exit) => return Ok(exit),
    };
    let watched = Watched::begin()?;
    let resolved = match plan(context, subject, &program, asked, &watched)? {
        Ok(resolved) => ManuallyDrop::new(resolved),
        Err(exit) => return Ok(exit),
    };
    let counts = Counts::of(&resolved.plan, &context.registry);
    let vault = vault(&resolved);
    let what = (subject, &*resolved);
    let report =
        look(context, asked, what, &vault, watched.stop(), (limit(asked), Direction::Report))?;
    if let Some(exit) = report.stopped.and(watched.exit()) {
        return Err(interrupted(exit, &report, counts));
    }
    let findings = Findings {
        file: &subject.loaded.name,
        report: &report,
        others: counts.others,
        is_part: !asked.selection().is_all(),
        apply_command: &apply_command(subject, asked),
    };
    view::verify::show(&findings, asked, context)?;
    context.stages.end("verify");
    view::trace::telemetry(context, subject.loaded, &resolved.plan, &asked.plan);
    let all_satisfied =
        report.verifications.iter().all(|it| it.status == resource::Status::Satisfied);
    Ok(if all_satisfied { Exit::Done } else { Exit::Differs })
}

/// The plan with every value that its resources need, for which nothing is left behind.
pub(crate) fn plan(
    context: &Context<'_>,
    subject: &Subject<'_>,
    program: &Program,
    asked: &Asked,
    watched: &Watched,
) -> Outcome<Resolved> {
    let options = &asked.plan;
    let mut keys = planning::passing_keys(subject, context, options);
    let aim = asked.aim(Purpose::Verify);
    let planned = planning::plan(subject, context, program, options, aim, &mut keys, watched)?;
    let Ok(resolved) = planned else { return Ok(planned) };
    // A check that the shell cannot read would look like one that fails.
    let world = planning::world(subject, context, options)?.stopped_by(watched.stop());
    Ok(match planning::misspelt(subject, context, options, &resolved, &world)? {
        Some(exit) => Err(exit),
        None => Ok(resolved),
    })
}

/// How long every look may take, where somebody says so.
pub(crate) fn limit(asked: &Asked) -> Option<Duration> {
    asked.run.timeout.map(|limit| Duration::from_nanos(limit.as_nanos().unsigned_abs()))
}

/// Looks, with a sign of life where that takes longer than a moment.
pub(crate) fn look(
    context: &Context<'_>,
    asked: &Asked,
    (subject, resolved): (&Subject<'_>, &Resolved),
    vault: &Vault,
    stop: &Stop,
    (timeout, direction): (Option<Duration>, Direction),
) -> Result<Report, Failure> {
    let selected = selected(context, asked, resolved)?;
    let total = match &selected {
        Some(selected) => selected.len(),
        None => Counts::of(&resolved.plan, &context.registry).resources,
    };
    let is_counted = |path: &str| selected.as_ref().is_none_or(|paths| paths.contains(path));
    let progress = Progress::begin(context, asked, total);
    let jobs = asked.run.jobs.map(Into::into);
    let (selection, key) = (asked.selection(), None);
    let registry = &context.registry;
    let look = Look { resolved, registry, vault, stop, jobs, timeout, selection, direction, key };
    let place = planning::place(subject, context, &asked.plan)?;
    look.take(&place, &|news| progress.heard(news, is_counted)).map_err(Failure::unready)
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

pub(crate) fn vault(resolved: &Resolved) -> Vault {
    let vault = Vault::new();
    execute::register(&vault, &resolved.showing);
    vault
}

/// The last words about a look that was told to stop.
pub(crate) fn interrupted(exit: Exit, report: &Report, counts: Counts) -> Failure {
    let (seen, all) = (report.verifications.len(), counts.resources);
    let message = format!("interrupted: {seen} of {all} were looked at, and nothing was changed");
    Failure::new(exit, message, "look again, or at some of them: `opal verify … --only ID`")
}

/// What a plan consists of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Steps that describe something.
    pub(crate) resources: usize,
    /// Steps that only do something.
    pub(crate) others: usize,
}

impl Counts {
    pub(crate) fn of(plan: &Plan, registry: &Registry) -> Self {
        let mut counts = Self::default();
        counts.add(&plan.steps, registry);
        counts
    }

    fn add(&mut self, steps: &[Step], registry: &Registry) {
        for step in steps {
            if resource::described(step, registry).is_some() {
                self.resources += 1;
            } else if step.block.is_empty() && !step.is_construct() {
                self.others += 1;
            }
            self.add(&step.block, registry);
        }
    }
}

/// The paths of the steps that describe something.
pub(crate) fn described(plan: &Plan, registry: &Registry) -> BTreeSet<Box<str>> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Step> = plan.steps.iter().collect();
    while let Some(step) = open.pop() {
        if resource::described(step, registry).is_some() {
            found.insert(step.path.clone());
        }
        open.extend(&step.block);
    }
    found
}

/// What is typed to bring about what was not found. A task runs whole.
fn apply_command(subject: &Subject<'_>, asked: &Asked) -> String {
    match subject.loaded.is_config() {
        true => format!("opal apply {}{}", target(subject), asked.selection_words()),
        false => format!("opal {}", target(subject)),
    }
}

/// What is typed to see all that differs.
pub(crate) fn again(subject: &Subject<'_>) -> String {
    format!("opal verify {} -v", target(subject))
}

/// What is typed to name a task, a script or a configuration, with its arguments.
pub(crate) fn target(subject: &Subject<'_>) -> String {
    let loaded = subject.loaded;
    let mut words = Vec::new();
    let task = subject.function.as_deref().and_then(|name| tasks::find(loaded, name));
    match task {
        Some(task) => {
            if !project::is_default(&loaded.path) {
                words.extend(tasks::option("-f", &loaded.name));
            }
            words.extend(tasks::words(&task, &subject.arguments));
        }
        None => {
            words.push(tasks::path_word(&loaded.name));
            if let Some(Value::Array(items)) = subject.arguments.get("args") {
                words.extend(items.iter().map(tasks::word));
            }
        }
    }
    words.join(" ")
}
