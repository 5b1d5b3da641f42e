//! The last look: what a run has found as described, or brought about, is so at its end, or the run
//! has failed.
//!
//! Each resource was seen in its own turn, and a step behind it may have undone that. So all of them
//! are looked at once more, side by side; not those that were seen after the last thing that was done.
//!
//! Deliberately not looked at: what did not run, and what nobody can tell about; what stands in a `try`
//! that has dealt with a failure or cleans up, and what an operand of `||` has left that failed, since
//! undoing is what these are for; what a later step undoes in so many words, one behind the other; in a
//! task, what stands before a plain step, which may undo it on purpose.
//!
//! As in the turn of a step, a system call that never returns holds this up: the session is the run's.

mod places;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use opal_core::Secret;
use opal_core::action::{Failure, Halt};
use opal_core::decorator::Capability;
use opal_core::plan::Step;
use opal_core::record::Kind;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::resource::{Described, Finding, Status};

use super::call::Begun;
use super::here::Here;
use super::inputs::inputs;
use super::lets::Lets;
use super::prepare::walk;
use super::screen::{Screen, lock};
use super::values::Values;
use super::walk::go_on;
use super::{STACK_BYTES, Walk};
use crate::verify::{MAX_JOBS, Sight, USUAL_JOBS, details};

/// A resource that was as described when its turn was over.
#[derive(Debug)]
pub(super) struct Kept<'p> {
    step: &'p Step,
    described: Described,
    directory: Arc<Path>,
    environment: Arc<BTreeMap<String, Secret>>,
    lets: Lets,
    /// How much had been done when it was seen.
    seen: u64,
    /// Whether the run has brought it about.
    is_made: bool,
}

/// Something is done as long as this is held. It counts when it begins and when it ends: whoever was
/// seen meanwhile was seen too early.
#[derive(Debug)]
pub(super) struct Doing<'a>(&'a AtomicU64);

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Found = Result<Finding, Trouble>;

impl<'p> Walk<'p> {
    pub(super) fn doing(&self) -> Doing<'_> {
        self.done.fetch_add(1, Ordering::SeqCst);
        Doing(&self.done)
    }

    /// The same for a step that may do anything, as far as anybody can tell.
    pub(super) fn doing_it(&self, begun: &Begun<'p>) -> Option<Doing<'_>> {
        let only_talks = begun.descriptor.capabilities == [Capability::Terminal];
        let acts = !begun.is_block && !only_talks && self.described(begun.step).is_none();
        (acts || !begun.step.redirects.is_empty()).then(|| self.doing())
    }

    /// In a task it was meant to come behind all that it may have undone.
    pub(super) fn done_with(&self, doing: Doing<'_>) {
        drop(doing);
        if !self.job.is_declared {
            lock(&self.kept).clear();
        }
    }

    /// How much has been done so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::SeqCst)
    }

    pub(super) fn keep(
        &self,
        (step, described): (&'p Step, Described),
        here: &Here<'p>,
        seen: u64,
        is_made: bool,
    ) {
        let (directory, environment) = (here.directory.clone(), here.environment.clone());
        let lets = here.lets.clone();
        let kept = Kept { step, described, directory, environment, lets, seen, is_made };
        lock(&self.kept).insert(&step.path, kept);
    }

    /// The run no longer vouches for what these steps have left.
    pub(super) fn forget(&self, steps: &'p [Step]) {
        let mut kept = lock(&self.kept);
        walk(steps, &mut |step| drop(kept.remove(&*step.path)));
    }

    /// Looks at what has been seen before the last thing that was done.
    pub(super) fn last_look(&'p self) -> Result<(), Halt> {
        let (kept, done) = (std::mem::take(&mut *lock(&self.kept)), self.done());
        // Most runs end here, without a walk through their plan.
        if kept.values().all(|kept| kept.seen == done) {
            return Ok(());
        }
        let all = self.lasting(self.in_order(kept));
        let stale: Vec<&Kept<'p>> = all.iter().filter(|kept| kept.seen != done).collect();
        if stale.is_empty() {
            return Ok(());
        }
        // Who was told to stop cannot say that all of it is so.
        go_on(self.job.stop)?;
        let found = self.look_at(&stale);
        go_on(self.job.stop)?;
        let screen = Screen::new(self.job.audience);
        let mut undone: Option<Failure> = None;
        for (kept, found) in stale.into_iter().zip(found) {
            let Some(mut trouble) = self.judge(kept, found, &screen)? else { continue };
            self.count_undone(kept);
            let path = kept.step.path.clone();
            match &mut undone {
                Some(first) => first.join(Failure::new(path, 1, Some(trouble))),
                None => {
                    trouble.help.extend(self.changed_by(kept, &all));
                    trouble.help.push(WAY_FORWARD.to_owned());
                    undone = Some(Failure::new(path, 1, Some(trouble)));
                }
            }
        }
        undone.map_or(Ok(()), |failure| {
            self.is_undone.store(true, Ordering::SeqCst);
            Err(Halt::Failed(Box::new(failure)))
        })
    }

    fn in_order(&self, mut kept: BTreeMap<&'p str, Kept<'p>>) -> Vec<Kept<'p>> {
        let mut all = Vec::new();
        walk(&self.job.plan.steps, &mut |step| all.extend(kept.remove(&*step.path)));
        all
    }

    /// Looks at all of them, side by side. Once the run is told to stop, at no more.
    fn look_at(&'p self, all: &[&Kept<'p>]) -> Vec<Found> {
        let jobs = self.job.jobs.unwrap_or(USUAL_JOBS).clamp(1, MAX_JOBS).min(all.len());
        let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || {
            while go_on(self.job.stop).is_ok() {
                let index = next.fetch_add(1, Ordering::SeqCst);
                let Some(kept) = all.get(index) else { return };
                let seen = self.look_at_one(kept);
                lock(&found).insert(index, seen);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs {
                let thread = std::thread::Builder::new().name("look".to_owned());
                // With fewer threads it takes longer, and that is all.
                if thread.stack_size(STACK_BYTES).spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    fn look_at_one(&self, kept: &Kept<'p>) -> Found {
        let values = Values { known: self.job.values, lets: Some(&kept.lets) };
        let inputs = inputs(kept.step, kept.described.descriptor, values)?;
        let spot = (&*kept.directory, &*kept.environment);
        // As for a look on its own: a check means something only where it runs.
        let runs_text = kept.described.descriptor.params.iter().any(|param| param.shell);
        if runs_text && self.job.session.directory(&kept.directory, ".", false).is_err() {
            return Ok(Finding::unknown("the directory it runs in is no longer there"));
        }
        self.see(kept.described, &inputs, spot, self.job.stop)
    }

    /// Tells what was found, and gives what is wrong with it.
    fn judge(
        &self,
        kept: &Kept<'p>,
        found: Found,
        screen: &Screen<'p>,
    ) -> Result<Option<Trouble>, Halt> {
        let (path, vault) = (&*kept.step.path, self.job.vault);
        let (status, Sight { message, details }, help) = match found {
            Ok(finding) => (finding.status, details::shown(&finding, vault), Vec::new()),
            Err(trouble) => {
                let message = vault.scrub(&trouble.message);
                (Status::Blocked, Sight { message, details: None }, trouble.help)
            }
        };
        let said = format!("{UNDONE}: {}: {}", status.name(), message.text());
        screen.event(&self.record(Kind::Verified { path, status, message, details })?);
        let help = help.iter().map(|line| vault.scrub(line).text().into_owned()).collect();
        let is_so = matches!(status, Status::Satisfied | Status::Unknown);
        Ok((!is_so).then_some(Trouble { kind: TroubleKind::Failed, message: said, help }))
    }

    /// A step that has ended well has failed after all.
    fn count_undone(&self, kept: &Kept<'p>) {
        let counts = &mut lock(&self.tally).counts;
        let ended = if kept.is_made { &mut counts.done } else { &mut counts.satisfied };
        *ended = ended.saturating_sub(1);
        counts.failed += 1;
    }
}

const UNDONE: &str = "it was as described, and at the end of the run it no longer is";

const WAY_FORWARD: &str =
    "let all steps want the same, and do with a command what is not meant to last";
