//! The fence of a target under an order: its journal, and what that says about the steps to come.
//!
//! | what | where |
//! |---|---|
//! | the entries of earlier runners | `past` |
//! | what becomes of a step that was begun before | `passing` |
//!
//! The journal is that of the member of the fleet, also for steps that run as another user or in a container
//! there. Where its connection was lost, it is opened again before the next entry.

mod passing;
mod past;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use opal_core::journal::{Entry, Opening, What};
use opal_core::plan::Step;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_session::Journal;
use opal_session::stop::Stop;
use opal_session::wire::Timing;

use super::fencing::Fencing;
use super::job::Job;
use crate::spot::Site;
use crate::threads::lock;
pub(super) use passing::Pass;
use past::{Past, Turn};

/// How long a helper may take to end what it has started, once it knows that opal is gone.
const LEFT: Duration = Duration::from_secs(10);

/// A target that other runners may take over.
#[derive(Debug)]
pub(super) struct Fence {
    target: Arc<str>,
    /// How long a helper that opal has lost may take to be gone.
    patience: Duration,
    state: Mutex<State>,
    past: Mutex<Past>,
    /// Of the fleet: what stops one step alone does not stop this.
    stop: Stop,
    /// By id: what steps would have bound that have ended before, with their paths.
    unbound: Mutex<BTreeMap<Arc<str>, Box<str>>>,
    /// The step at which the target was lost, and why.
    lost: OnceLock<(Box<str>, Trouble)>,
}

#[derive(Debug)]
struct State {
    site: Arc<Site>,
    journal: Box<dyn Journal>,
    /// Of the last entry.
    number: u64,
}

impl Fence {
    /// Opens the journal of a member. A helper that opal has lost is given up after `lost`.
    pub(super) fn open(
        fencing: &dyn Fencing,
        target: &str,
        lost: Option<Duration>,
        site: &Arc<Site>,
        stop: &Stop,
    ) -> Result<Self, Trouble> {
        let target: Arc<str> = target.into();
        let patience = lost.unwrap_or(Timing::default().lost).saturating_add(LEFT);
        let opening = Opening { patience, ..fencing.opening(&target) };
        let (journal, entries) = site.session.journal(&opening, stop)?;
        let number = entries.len() as u64;
        if number > 0 {
            fencing.noted(&target, number);
        }
        let state = State { site: Arc::clone(site), journal, number };
        Ok(Self {
            target,
            patience,
            state: Mutex::new(state),
            past: Mutex::new(Past::of(&entries)),
            stop: stop.clone(),
            unbound: Mutex::default(),
            lost: OnceLock::new(),
        })
    }

    /// Why nothing more runs on the target, and at which step that was found.
    pub(super) fn lost(&self) -> Option<(&str, &Trouble)> {
        self.lost.get().map(|(path, trouble)| (&**path, trouble))
    }

    fn next(&self, path: &str) -> Option<Turn> {
        lock(&self.past).next(path)
    }

    /// A step has bound it now.
    pub(super) fn bound(&self, step: &Step) {
        if let Some(binding) = &step.binding {
            lock(&self.unbound).remove(&binding.id);
        }
    }

    /// Writes an entry: `code` where the step has ended. It is on the disk when this returns.
    fn write(
        &self,
        job: &Job<'_>,
        path: &str,
        code: Option<i32>,
        stop: &Stop,
    ) -> Result<(), Trouble> {
        let Some(fencing) = job.fence else { return Ok(()) };
        let mut state = lock(&self.state);
        let mut has_tried = false;
        let number = loop {
            if let Some(number) = self.reopened(&mut state, job, (path, code), stop)? {
                break number;
            }
            let written = match code {
                None => state.journal.begun(path, stop),
                Some(code) => state.journal.ended(path, code, stop),
            };
            match written {
                Ok(number) => break number,
                Err(trouble) if trouble.kind == TroubleKind::Lost && !has_tried => {
                    if !state.site.session.is_lost() {
                        return Err(trouble);
                    }
                    has_tried = true;
                }
                Err(trouble) => return Err(trouble),
            }
        };
        state.number = number;
        fencing.noted(&self.target, number);
        Ok(())
    }

    /// Opens the journal again where its connection was lost; the number of the entry that was to be
    /// written, if it had arrived.
    fn reopened(
        &self,
        state: &mut State,
        job: &Job<'_>,
        (path, code): (&str, Option<i32>),
        stop: &Stop,
    ) -> Result<Option<u64>, Trouble> {
        let Some(again) = state.site.again(job.reach, stop) else { return Ok(None) };
        let (site, Some(fencing)) = (Arc::new(again?), job.fence) else { return Ok(None) };
        let (claim, patience) = (state.number, self.patience);
        let opening = Opening { claim, patience, ..fencing.opening(&self.target) };
        let (journal, entries) = site.session.journal(&opening, stop)?;
        *state = State { site, journal, number: state.number };
        let new = entries.get(usize::try_from(state.number).unwrap_or(usize::MAX)..);
        let is_it = |entry: &&Entry| {
            let what = match &entry.what {
                What::Begun { .. } => None,
                What::Ended { code } => Some(*code),
            };
            entry.path == path && what == code
        };
        Ok(new.and_then(<[Entry]>::last).filter(is_it).map(|entry| entry.number))
    }
}
