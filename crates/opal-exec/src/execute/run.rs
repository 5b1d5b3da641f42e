//! One run from inside: what its blocks and branches share, and how they tell of what happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use opal_core::Secret;
use opal_core::action::{Failure, Halt};
use opal_core::message::Message;
use opal_core::plan::Step;
use opal_core::resource::{self, Described, Status};
use opal_core::view::{Visible, captured_key, running_text};
use opal_vault::event::{Event, Kind, Opened};
use opal_vault::targets::FleetTable;
use opal_vault::verification::Verification;
use opal_vault::{Shown, Vault};

use super::context::Context;
use super::fates::{Fate, Kept};
use super::handles::{Reads, handles};
use super::job::{FailedStep, Job};
use super::ledger::Ledger;
use super::lets::Lets;
use super::places::Places;
use crate::threads::lock;
use crate::verify::survey::Report;
use opal_core::gather::Gather as _;

/// One run: what its blocks and branches share.
pub(super) struct Walk<'p> {
    pub(super) job: &'p Job<'p>,
    /// How the targets of fleets ended in the run that is resumed, by the paths of the fleets.
    pub(super) earlier: Mutex<BTreeMap<&'p str, &'p FleetTable>>,
    /// How the targets of fleets ended, by the paths of the fleets.
    pub(super) fleets: Mutex<BTreeMap<&'p str, FleetTable>>,
    pub(super) reads: Reads<'p>,
    /// The number of the last step that started.
    pub(super) number: AtomicU64,
    pub(super) is_unrecorded: AtomicBool,
    pub(super) is_cleaning: AtomicBool,
    pub(super) places: Places,
    /// Of all steps but those of fleets.
    pub(super) ledger: Arc<Ledger<'p>>,
    /// The ids of all steps, computed when first needed.
    pub(super) ids: OnceLock<BTreeSet<&'p str>>,
    /// The ids that selected steps depend on, computed when first needed.
    pub(super) needed: OnceLock<BTreeSet<&'p str>>,
    /// Whether a step has done something: what was satisfied before may no longer be.
    pub(super) has_acted: AtomicBool,
    /// How often a change of what is described was begun or ended.
    pub(super) changed: AtomicU64,
    /// What is to be so at the end, by the paths of the steps.
    pub(super) kept: Mutex<BTreeMap<&'p str, Kept<'p>>>,
    pub(super) is_undone: AtomicBool,
    /// What decorators of packages opened and did not close.
    pub(super) open: Mutex<Vec<Opened>>,
    /// What was satisfied before the run, by the paths of the steps.
    pub(super) satisfied: BTreeMap<&'p str, &'p Verification>,
}

impl<'p> Walk<'p> {
    pub(super) fn new(job: &'p Job<'p>) -> Self {
        Self {
            job,
            earlier: Mutex::new(job.earlier.iter().map(|table| (&*table.path, table)).gathered()),
            fleets: Mutex::default(),
            reads: Reads::of(job.plan),
            number: AtomicU64::new(0),
            is_unrecorded: AtomicBool::new(false),
            is_cleaning: AtomicBool::new(false),
            places: Places::new(job.jobs),
            ledger: Arc::default(),
            needed: OnceLock::new(),
            ids: OnceLock::new(),
            has_acted: AtomicBool::new(false),
            changed: AtomicU64::new(0),
            kept: Mutex::default(),
            is_undone: AtomicBool::new(false),
            open: Mutex::default(),
            satisfied: job.known.map(satisfied).unwrap_or_default(),
        }
    }

    /// Something deals with a failure.
    pub(super) fn caught(&self, failure: &Failure, here: &Context<'p>) -> Kind<'p> {
        let path = self.job.plan.step(&failure.path).map_or("", |step| &step.path);
        Kind::Caught { path, code: failure.code, late: here.ledger.late_in(failure) }
    }

    /// A step as people see it.
    pub(super) fn text(
        &self,
        step: &Step,
        lets: &Lets,
        member: Option<&str>,
        vault: &Vault,
    ) -> Shown<'static> {
        let Job { plan, registry, showing, .. } = self.job;
        // A resource goes by its id and name, all else by what was written.
        let label = self.described(step).and_then(|it| resource::label(plan, step, it));
        let text = label.unwrap_or_else(|| {
            let mut captured = BTreeMap::new();
            handles(step, &mut |handle| {
                let value = lets.shown(handle).map(|value| (captured_key(handle), value));
                captured.extend(value);
            });
            let visible = Visible { values: &showing.visible, captured, member };
            running_text(plan, step, registry, &visible)
        });
        vault.scrub(&text)
    }

    /// A step that failed although it never started: it was skipped, or could not be connected.
    pub(super) fn unbegun(&self, failure: &Failure) -> Option<FailedStep> {
        let step = self.job.plan.step(&failure.path)?;
        let text = self.text(step, &Lets::default(), None, self.job.vault);
        let Failure { path, code, trouble, .. } = failure.clone();
        Some(FailedStep { path: path.into(), number: None, attempt: 1, code, text, trouble })
    }

    /// Tells the record, then those who watch.
    pub(super) fn tell(&self, kind: Kind<'p>, here: &Context<'p>) -> Result<(), Halt> {
        let (event, recorded) = self.record(kind, here.target());
        if !here.is_cleaning {
            recorded?;
        }
        here.screen.event(&event);
        Ok(())
    }

    /// The event, and whether the record has it.
    pub(super) fn record(
        &self,
        kind: Kind<'p>,
        target: Option<Arc<str>>,
    ) -> (Event<'p>, Result<(), Halt>) {
        let event = Event { at: (self.job.clock)(), target, alike: None, kind };
        let recorded = self.job.recorder.event(&event).map_err(|_| {
            self.lose_record();
            Halt::Unrecorded
        });
        (event, recorded)
    }

    /// Hides every value in what a session or an action has to say about a failure of `step`. A
    /// value that the vault does not hide, because it is too short, is hidden where it was given.
    pub(super) fn hidden(&self, step: &Step, here: &Context<'p>, mut halt: Halt) -> Halt {
        if let Halt::Failed(failure) = &mut halt
            // That of a step inside of it is hidden already.
            && failure.path == step.path
            && let Some(trouble) = &mut failure.trouble
        {
            let vault = here.vault(self.job);
            let scrub = |text: &str| vault.scrub(text).text().into_owned();
            let values = here.values(self.job).texts(step);
            let is_seen = |value: &&str| scrub(value) == *value;
            let seen: Vec<&str> = values.iter().map(Secret::expose).filter(is_seen).collect();
            let hide = |text: &mut Message| {
                // What the author of a step says is said, as in a plan.
                let is_ours = !text.is_given_as_a_whole();
                *text = if is_ours { scrub(&text.without(&seen)) } else { scrub(text) }.into();
            };
            hide(&mut trouble.message);
            trouble.help.iter_mut().for_each(hide);
        }
        halt
    }

    pub(super) fn described(&self, step: &Step) -> Option<Described> {
        resource::described(step, self.job.registry)
    }

    /// Notes what became of a step that others may depend on.
    pub(super) fn note(&self, step: &'p Step, fate: Fate, here: &Context<'p>) {
        if self.described(step).is_some()
            && let Some(id) = resource::id(step, self.job.values)
        {
            lock(&here.ledger.fates).insert(id, fate);
        }
    }

    /// The record cannot be written: nothing more may start, except what cleans up.
    pub(super) fn lose_record(&self) {
        self.is_unrecorded.store(true, Ordering::SeqCst);
    }

    pub(super) fn check_record(&self, here: &Context<'_>) -> Result<(), Halt> {
        match self.is_unrecorded.load(Ordering::SeqCst) && !here.is_cleaning {
            true => Err(Halt::Unrecorded),
            false => Ok(()),
        }
    }
}

fn satisfied(report: &Report) -> BTreeMap<&str, &Verification> {
    let all = report.verifications.iter().filter(|it| it.status == Status::Satisfied);
    all.map(|it| (&*it.path, it)).gathered()
}
