//! The last verification: what the steps of a configuration have found in the desired state, or
//! applied, is so at the end of the run, or the run has failed.
//!
//! Each was seen in its own turn, and one after it may have undone that. So all of them are
//! verified once more, in parallel; not those that were seen after the last change.
//!
//! Deliberately not in a task: its steps come one after the other, and may undo each other on
//! purpose.
//!
//! As in the turn of a step, a system call that never returns holds this up: the session is the run's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use opal_core::action::{Failure, Halt};
use opal_core::message::Message;
use opal_core::plan::Step;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::resource::{self, Described, Direction, Finding, Status};
use opal_vault::event::{End, Kind};

use super::context::Context;
use super::fates::Kept;
use super::halts::go_on;
use super::inputs::inputs;
use super::run::Walk;
use super::screen::Screen;
use super::values::Values;
use crate::threads::{STACK_BYTES, lock};
use crate::verify::details::{self, ShownFinding};
use crate::verify::survey::{MAX_JOBS, USUAL_JOBS};

/// Something changes as long as this is held. It counts when it begins and when it ends: whoever was
/// seen meanwhile was seen too early.
#[derive(Debug)]
pub(super) struct Changing<'a>(&'a AtomicU64);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Found = Result<Finding, Trouble>;

impl<'p> Walk<'p> {
    pub(super) fn changing(&self) -> Changing<'_> {
        self.changed.fetch_add(1, Ordering::SeqCst);
        Changing(&self.changed)
    }

    /// How much has been changed so far.
    pub(super) fn changed(&self) -> u64 {
        self.changed.load(Ordering::SeqCst)
    }

    pub(super) fn keep(
        &self,
        step: &'p Step,
        described: Described,
        here: &Context<'p>,
        seen: u64,
        is_made: bool,
    ) {
        if self.job.is_declared {
            let kept = Kept { step, described, spot: here.spot(), seen, is_made };
            lock(&self.kept).insert(&step.path, kept);
        }
    }

    /// Verifies what was last seen before the last change.
    pub(super) fn final_check(&'p self) -> Result<(), Halt> {
        let (kept, changed) = (std::mem::take(&mut *lock(&self.kept)), self.changed());
        // Most runs end here, without a walk through their plan.
        if kept.values().all(|kept| kept.seen == changed) {
            return Ok(());
        }
        let all = self.in_order(kept);
        let stale: Vec<&Kept<'p>> = all.iter().filter(|kept| kept.seen != changed).collect();
        // A run that was asked to stop cannot claim that everything is in the desired state.
        go_on(self.job.stop)?;
        let found = self.verify_again(&stale);
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
                    trouble.help.extend(self.changed_by(kept, &all).map(Into::into));
                    trouble.help.push(WAY_FORWARD.into());
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
        for step in self.job.plan.all_steps() {
            all.extend(kept.remove(&*step.path));
        }
        all
    }

    /// Verifies all of them, in parallel. Starts no more once the run is asked to stop.
    fn verify_again(&'p self, all: &[&Kept<'p>]) -> Vec<Found> {
        let jobs = self.job.jobs.unwrap_or(USUAL_JOBS).clamp(1, MAX_JOBS).min(all.len());
        let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || {
            while go_on(self.job.stop).is_ok() {
                let index = next.fetch_add(1, Ordering::SeqCst);
                let Some(kept) = all.get(index) else { return };
                let seen = self.verify_one(kept);
                lock(&found).insert(index, seen);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs {
                let thread = std::thread::Builder::new().name("verify".to_owned());
                // With fewer threads it takes longer, and that is all.
                if thread.stack_size(STACK_BYTES).spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    fn verify_one(&self, kept: &Kept<'p>) -> Found {
        let values = Values::before(self.job.values);
        let inputs = inputs(kept.step, kept.described.descriptor, values)?;
        self.see(kept.described, &inputs, &kept.spot, self.job.stop)
    }

    /// Tells what was found, and gives what is wrong with it.
    fn judge(
        &self,
        kept: &Kept<'p>,
        found: Found,
        screen: &Screen<'p>,
    ) -> Result<Option<Trouble>, Halt> {
        let (path, vault) = (&*kept.step.path, &self.job.vault.on(kept.spot.target()));
        let (status, ShownFinding { message, details }, help) = match found {
            Ok(finding) => {
                (finding.status, details::shown(&finding, vault, Direction::Change), Vec::new())
            }
            Err(trouble) => {
                let message = vault.scrub(&trouble.message);
                (Status::Blocked, ShownFinding { message, details: None }, trouble.help)
            }
        };
        let said = format!("{UNDONE}: {}: {}", status.name(), message.text());
        let (event, recorded) =
            self.record(Kind::Verified { path, status, message, details }, None);
        recorded?;
        screen.event(&event);
        if matches!(status, Status::Satisfied | Status::Unknown) {
            return Ok(None);
        }
        let was = if kept.is_made { End::Done } else { End::Satisfied };
        let message = vault.scrub(&said);
        let (event, recorded) = self.record(Kind::Undone { path, was, message }, None);
        recorded?;
        screen.event(&event);
        let scrubbed = |line: &Message| vault.scrub(line).text().into_owned().into();
        let help = help.iter().map(scrubbed).collect();
        Ok(Some(Trouble { kind: TroubleKind::Failed, message: said.into(), help }))
    }

    /// A step that has ended well has failed after all.
    fn count_undone(&self, kept: &Kept<'p>) {
        lock(&self.ledger.tally).undone(&kept.step.path);
    }

    /// Names the other resource that was applied to the same place after this one was seen.
    fn changed_by(&self, kept: &Kept<'p>, all: &[Kept<'p>]) -> Option<String> {
        let place = self.place(kept)?;
        let later = all.iter().filter(|other| other.is_made && other.seen > kept.seen);
        let near = later.filter_map(|other| {
            let about = near(&place, &self.place(other)?)?;
            Some((other, about))
        });
        let (other, about) = near.max_by_key(|(other, _)| other.seen)?;
        let name = resource::name(self.job.plan, other.step);
        Some(format!("`{name}` was applied after it, and concerns {about}"))
    }

    /// Where among the files it is; none where it is elsewhere, or a value of the run says where.
    fn place(&self, kept: &Kept<'p>) -> Option<PathBuf> {
        let job = self.job;
        let probe = kept.spot.session(job.session).probe(&kept.spot.place(job.stop));
        let thing = resource::thing(kept.step, kept.described, job.values, &*probe)?;
        let (_, path) = thing.into_iter().next().filter(|(name, _)| resource::is_placed(name))?;
        Some(path.into())
    }
}

fn near(place: &Path, other: &Path) -> Option<&'static str> {
    if place == other {
        Some("the same path")
    } else if other.starts_with(place) {
        Some("something inside it")
    } else if place.starts_with(other) {
        Some("its parent directory")
    } else {
        None
    }
}

const UNDONE: &str = "it was in the desired state, but no longer is at the end of the run";

const WAY_FORWARD: &str = "make all steps describe the same state";
