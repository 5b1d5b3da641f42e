//! The fence of a target under an order: its journal, and what that says about the steps to come.
//!
//! | what | where |
//! |---|---|
//! | the entries of earlier runners | `past` |
//! | what becomes of a step that was begun before | `passing` |
//! | what a step is called there | `attempts` |
//!
//! The journal is that of the member of the fleet, also for steps that run as another user or in a container
//! there. Where its connection was lost, it is opened again before anything else happens, and must say what
//! it said: where another runner has gone on meanwhile, or an entry cannot be written, the target is lost.

mod attempts;
mod passing;
mod past;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use opal_core::journal::{Entry, Opening, What};
use opal_core::plan::Step;
use opal_core::resolver::Trouble;
use opal_session::Journal;
use opal_session::stop::Stop;
use opal_session::wire::Timing;

use super::fencing::Fencing;
use super::job::Job;
use crate::error::FenceError;
use crate::spot::Site;
use crate::threads::lock;
pub(super) use attempts::Attempts;
pub(super) use passing::Pass;
use past::{Ended, Past};

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

    fn come_to(&self, name: &str) -> Option<Option<Ended>> {
        lock(&self.past).come_to(name)
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
        name: &str,
        code: Option<i32>,
        stop: &Stop,
    ) -> Result<(), Trouble> {
        let Some(fencing) = job.fence else { return Ok(()) };
        let mut state = lock(&self.state);
        let mut sent = None;
        let number = loop {
            if let Some(number) = self.held(&mut state, job, sent, stop)? {
                break number;
            }
            let written = match code {
                None => state.journal.begun(name, stop),
                Some(code) => state.journal.ended(name, code, stop),
            };
            match written {
                Ok(number) => break number,
                // It may have arrived.
                Err(_) if sent.is_none() && state.site.session.is_lost() => {
                    sent = Some((name, code));
                }
                Err(trouble) => return Err(trouble),
            }
        };
        state.number = number;
        fencing.noted(&self.target, number);
        Ok(())
    }

    /// Makes the connection again where it was lost. That it cannot be made says nothing about the target.
    fn connect(&self, job: &Job<'_>, stop: &Stop) -> Result<(), Trouble> {
        lock(&self.state).site.again(job.reach, stop).map_or(Ok(()), |again| again.map(drop))
    }

    /// Whether the journal is still that of this run, for a step that has no entry.
    fn hold(&self, job: &Job<'_>, stop: &Stop) -> Result<(), Trouble> {
        self.held(&mut lock(&self.state), job, None, stop).map(drop)
    }

    /// Opens the journal again where its connection was lost: the number of the entry that was `sent`, where
    /// it has arrived. Any other new entry is another runner's.
    fn held(
        &self,
        state: &mut State,
        job: &Job<'_>,
        sent: Option<(&str, Option<i32>)>,
        stop: &Stop,
    ) -> Result<Option<u64>, Trouble> {
        let Some(again) = state.site.again(job.reach, stop) else { return Ok(None) };
        let (site, Some(fencing)) = (Arc::new(again?), job.fence) else { return Ok(None) };
        let (claim, patience) = (state.number, self.patience);
        let opening = Opening { claim, patience, ..fencing.opening(&self.target) };
        let (journal, entries) = site.session.journal(&opening, stop)?;
        let known = usize::try_from(claim).unwrap_or(usize::MAX);
        let is_sent = |entry: &Entry| match (&entry.what, sent) {
            (What::Begun { marker }, Some((name, None))) => {
                entry.path == name && marker == state.journal.marker()
            }
            (What::Ended { code }, Some((name, Some(sent)))) => entry.path == name && *code == sent,
            _ => false,
        };
        let arrived = match entries.get(known..) {
            Some([]) => None,
            Some([entry]) if is_sent(entry) => Some(entry.number),
            _ => return Err(FenceError::TakenOver.into()),
        };
        *state = State { site, journal, number: state.number };
        Ok(arrived)
    }
}
