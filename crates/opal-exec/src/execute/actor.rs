//! A step that acts: what it has, and what holds around its blocks and commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::action::{Conditions, Failure, Halt, Stage, Why};
use opal_core::decorator::Descriptor;
use opal_core::plan::Step;
use opal_core::resolver::ScriptPart;
use opal_core::wiped::Wiped;
use opal_session::stop::Stop;
use opal_vault::Shown;

use super::context::Context;
use super::halts::TIMED_OUT;
use super::job::FailedStep;
use super::run::Walk;
use crate::error::StepError;
use crate::threads::lock;

/// A step that has started.
#[derive(Debug)]
pub(super) struct Begun<'p> {
    pub(super) step: &'p Step,
    pub(super) descriptor: &'static Descriptor,
    pub(super) number: u64,
    pub(super) attempt: u32,
    pub(super) text: Shown<'static>,
    pub(super) is_block: bool,
    pub(super) since: Instant,
}

impl Begun<'_> {
    /// Whether it ended with the failure of another step.
    pub(super) fn passes_on(&self, result: &Result<(), Halt>) -> bool {
        matches!(result, Err(Halt::Failed(failure)) if failure.path != self.step.path)
    }

    pub(super) fn failure(&self, failure: &Failure) -> FailedStep {
        FailedStep {
            path: failure.path.to_string(),
            number: Some(self.number),
            attempt: self.attempt,
            code: failure.code,
            text: self.text.clone(),
            trouble: failure.trouble.clone(),
        }
    }
}

/// A step that acts, where it is.
pub(super) struct Actor<'h, 'p> {
    pub(super) walk: &'p Walk<'p>,
    pub(super) begun: &'h Begun<'p>,
    pub(super) here: &'h mut Context<'p>,
    /// Redirections as the shell writes them, to follow the step's command.
    pub(super) appended: &'h [ScriptPart],
    /// What the last command ended with.
    pub(super) code: Option<i32>,
    /// Whether it had values that may be too long for a single argument.
    pub(super) has_long_values: bool,
    /// Whether what it describes was there already.
    pub(super) is_satisfied: bool,
    /// Where the last command ended, where it can move, and what `cd -` goes back to from there.
    pub(super) moved: Option<(PathBuf, Option<PathBuf>)>,
    /// What a captured command said beside its output: shown once the output is known to be hidden.
    pub(super) waiting: Wiped<Vec<u8>>,
}

impl<'h, 'p> Actor<'h, 'p> {
    pub(super) fn new(
        walk: &'p Walk<'p>,
        begun: &'h Begun<'p>,
        here: &'h mut Context<'p>,
        appended: &'h [ScriptPart],
    ) -> Self {
        let waiting = Wiped::new(Vec::new());
        Self {
            walk,
            begun,
            here,
            appended,
            code: None,
            has_long_values: false,
            is_satisfied: false,
            moved: None,
            waiting,
        }
    }

    /// What holds around a block or a command of the step.
    pub(super) fn under(&self, under: &Conditions) -> Result<Context<'p>, Halt> {
        let mut here = self.here.clone();
        if let Some(crossing) = &under.crossing {
            here = self.cross(crossing, false, here)?;
        }
        // Projects are on opal's machine: on a target, a function of one starts where it is called, and
        // finds its own sources here.
        let job = self.walk.job;
        if let Some(project) = &under.project {
            here.sources = job.base.join(project).into();
        }
        if let Some(project) = under.project.as_ref().filter(|_| here.site.is_none()) {
            let found = here.session(job).directory(job.base, project, false, &here.stop);
            here.directory = found.map_err(|trouble| self.fail(1, trouble))?.into();
            here.base = Arc::clone(&here.directory);
            here.previous = None;
        }
        if let Some(directory) = &under.directory {
            let session = here.session(self.walk.job);
            let (path, create) = (&directory.path, directory.create);
            let found = session.directory(&here.directory, path, create, &here.stop);
            here.directory = found.map_err(|trouble| self.fail(1, trouble))?.into();
            // Nobody has gone there with `cd`.
            here.previous = None;
            if Path::new(path).is_absolute() {
                here.moved_by = None;
            }
        }
        if let Some(name) = with_nul(&under.environment) {
            return Err(self.fail(1, StepError::NulInVariable(name).into()));
        }
        if !under.environment.is_empty() {
            let more = under.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
            Arc::make_mut(&mut here.environment).extend(more);
        }
        here.limits = here.limits.tightened(under.limits);
        if let Some((attempt, _)) = under.attempt {
            here.attempt = attempt;
            here.attempts = here.attempts.within(&self.begun.step.path, attempt);
        }
        if let Some(limit) = under.limit {
            here.stop = here.stop.limited(length(limit.duration), length(limit.grace));
        }
        Ok(here)
    }

    /// A stop by the limit of this step itself is its failure.
    pub(super) fn timed<T>(
        &self,
        result: Result<T, Halt>,
        under: &Conditions,
        stop: &Stop,
    ) -> Result<T, Halt> {
        match (result, under.limit) {
            (Err(Halt::Stopped(Why::TimedOut)), Some(limit)) if stop.is_out_of_time() => {
                let path = &self.begun.step.path;
                let late = self.here.ledger.late(path);
                if let Some(first) = late.first() {
                    lock(&self.here.ledger.tally).blamed.insert(path.clone(), first.step.clone());
                }
                let late = late.iter().map(|late| &*late.name).collect();
                let error = StepError::TimedOut { limit: limit.duration, late };
                Err(self.fail(TIMED_OUT, error.into()))
            }
            (result, _) => result,
        }
    }
}

fn with_nul(environment: &BTreeMap<String, Secret>) -> Option<&str> {
    let found = environment.iter().find(|(_, value)| value.expose().contains('\0'));
    found.map(|(name, _)| name.as_str())
}

/// Negative lengths do not get here: the parameters' types see to that.
pub(super) fn length(duration: opal_core::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(0))
}
