//! A block on many targets.
//!
//! Targets are taken up in the order of the plan, batch by batch. Each has a ledger of its own: on all
//! of them the steps have the same paths.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use opal_core::action::{BranchOutput, Failure, Fleet, Halt, OnFailure, Why};
use opal_core::crossing::Crossing;
use opal_core::resolver::TroubleKind;
use opal_session::stop::Stop;
use opal_vault::event::{Branch, Kind};
use opal_vault::targets::{FleetTable, TargetEnd, TargetRow};

use super::actor::{Actor, length};
use super::context::{Context, In};
use super::crossing::{code as code_of, is_unreachable};
use super::fence::Fence;
use super::halts::{UNAVAILABLE, bug, failed, go_on};
use super::ledger::Ledger;
use super::lets::Lets;
use super::resume::From;
use super::roster::Part;
use super::screen::{Queue, Watch};
use crate::error::{Bug, StepError};
use crate::spot::member_block;
use crate::threads::{STACK_BYTES, lock};

/// All that the threads of a fleet share.
struct Crew<'f, 'p> {
    fleet: &'f Fleet,
    parts: Vec<Part<'p>>,
    stop: Stop,
    watch: Arc<Watch<'p>>,
    queue: Mutex<Queue<'p>>,
    rows: Mutex<Vec<Option<Ended<'p>>>>,
    failed: AtomicUsize,
    /// What is more than the failure of a target.
    halt: Mutex<Option<Halt>>,
}

/// A target that has had its turn.
struct Ended<'p> {
    row: TargetRow,
    ledger: Arc<Ledger<'p>>,
}

impl<'p> Crew<'_, 'p> {
    /// Where a target begins; none where it does not take part.
    fn from(&self, index: usize) -> Option<&Arc<From<'p>>> {
        match self.parts.get(index)? {
            Part::Runs(from) => Some(from),
            Part::Earlier(_) => None,
        }
    }
}

impl<'p> Actor<'_, 'p> {
    pub(super) fn run_fleet(&mut self, fleet: &Fleet) -> Result<(), Halt> {
        let (walk, step, here) = (self.walk, self.begun.step, &*self.here);
        let count = fleet.crossings.len();
        // `--limit` has left none of them.
        if count == 0 {
            return Ok(());
        }
        let output = walk.job.output.of_block(fleet.output);
        let most = fleet.most.clamp(1, count.max(1));
        walk.tell(Kind::Branches { path: &step.path, count, most }, here)?;
        let names = fleet.crossings.iter().map(|it| it.target.name.as_str().into()).collect();
        walk.record(Kind::Fleet { path: &step.path, names }, here.target()).1?;
        let (labels, queue) = match output {
            BranchOutput::Prefixed => (self.labels(fleet), Queue::default()),
            BranchOutput::Grouped => (Vec::new(), Queue::default()),
            BranchOutput::Folded => (Vec::new(), Queue::folded(&step.block)),
        };
        let crew = Crew {
            fleet,
            parts: self.parts(fleet),
            stop: here.stop.below(),
            watch: Watch::new(&step.path, count, &here.screen, labels, true),
            queue: Mutex::new(queue),
            rows: Mutex::new((0..count).map(|_| None).collect()),
            failed: AtomicUsize::new(0),
            halt: Mutex::default(),
        };
        self.note_unreached(&crew);
        if fleet.is_reached_first {
            self.work_through(&crew, 0..count, most, |this, index| this.try_to_reach(&crew, index));
        }
        let mut from = 0;
        for size in &fleet.batches {
            let to = (from + size).min(count);
            self.work_through(&crew, from..to, most, |this, index| this.member(&crew, index));
            from = to;
        }
        self.settle(crew)
    }

    /// Has all of a range done, several at a time.
    fn work_through(
        &self,
        crew: &Crew<'_, 'p>,
        range: std::ops::Range<usize>,
        most: usize,
        each: impl Fn(&Self, usize) + Sync,
    ) where
        Self: Sync,
    {
        let next = AtomicUsize::new(range.start);
        let work = || loop {
            let index = next.fetch_add(1, Ordering::SeqCst);
            if index >= range.end || lock(&crew.halt).is_some() {
                return;
            }
            each(self, index);
        };
        std::thread::scope(|scope| {
            for _ in 1..most.min(range.len()) {
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
                // With fewer threads it takes longer, and that is all.
                if thread.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
    }

    fn labels(&self, fleet: &Fleet) -> Vec<Branch> {
        let names = fleet.crossings.iter().map(|crossing| crossing.target.name.as_str());
        let columns = names.clone().map(|name| name.chars().count()).max().unwrap_or(0);
        let vault = self.walk.job.vault;
        let label = |(index, name)| Branch { name: vault.scrub(name).into_owned(), index, columns };
        names.enumerate().map(label).collect()
    }

    fn is_over(&self, crew: &Crew<'_, 'p>) -> bool {
        // Where all runners of an order count together, they also know which targets had begun before others
        // failed: those come to their end.
        let is_counted_here = self.walk.job.fence.is_none_or(|fence| !fence.counts_failures());
        let failed = crew.failed.load(Ordering::SeqCst);
        is_counted_here && failed > crew.fleet.tolerate || go_on(&crew.stop).is_err()
    }

    /// Notes the targets that could not be reached for their values.
    fn note_unreached(&self, crew: &Crew<'_, 'p>) {
        for (index, crossing) in crew.fleet.crossings.iter().enumerate() {
            let name = crossing.target.name.as_str();
            let why = self.walk.job.unreached.get(&self.begun.step.path, name);
            if let Some(why) = why.filter(|_| crew.from(index).is_some()) {
                let halt = failed(self.begun.step, code_of(why), why.clone());
                self.note(crew, index, Instant::now(), Arc::default(), Err(halt), true);
            }
        }
    }

    /// Reaches a target before the first step runs on any.
    fn try_to_reach(&self, crew: &Crew<'_, 'p>, index: usize) {
        let has_row = lock(&crew.rows)[index].is_some();
        if has_row || self.is_over(crew) || crew.from(index).is_none() {
            return;
        }
        let since = Instant::now();
        let here = Context { stop: crew.stop.clone(), ..self.here.clone() };
        if let Err(halt) = self.cross(&crew.fleet.crossings[index], true, here) {
            let ledger = Arc::<Ledger<'p>>::default();
            self.note(crew, index, since, ledger, Err(halt), true);
        }
    }

    /// Runs the block on a target, unless too many have failed.
    fn member(&self, crew: &Crew<'_, 'p>, index: usize) {
        let screen = lock(&crew.queue).begin(index, &self.here.screen, &crew.watch);
        let has_row = lock(&crew.rows)[index].is_some();
        if let Some(from) = crew.from(index)
            && !has_row
            && !self.is_over(crew)
        {
            let since = Instant::now();
            let ledger = Arc::<Ledger<'p>>::default();
            let here = Context {
                ledger: Arc::clone(&ledger),
                from: Arc::clone(from),
                stop: crew.stop.clone(),
                stdin: In::Nothing,
                screen,
                ..self.here.clone()
            };
            let crossing = &crew.fleet.crossings[index];
            let name = crossing.target.name.as_str();
            let start = self.walk.job.fence.map_or(Ok(()), |it| it.start(name, &crew.stop));
            match start {
                Ok(()) => {
                    let crossed = self.cross(crossing, true, here);
                    let is_unreached = crossed.is_err();
                    let result = crossed.and_then(|here| self.on_member(crossing, here));
                    self.note(crew, index, since, ledger, result, is_unreached);
                }
                Err(why) => self.note_denied(crew, index, &why),
            }
        }
        lock(&crew.queue).end(index);
        let ended = |it: &Ended<'_>| it.row.end.is_failure();
        let is_failed = lock(&crew.rows)[index].as_ref().is_some_and(ended);
        crew.watch.ended(index, is_failed);
    }

    /// Runs the block on a target that was reached.
    fn on_member(&self, crossing: &Crossing, mut here: Context<'p>) -> Result<(), Halt> {
        let (walk, step) = (self.walk, self.begun.step);
        here.fence = self.fence(crossing, &here)?.map(Arc::new);
        let fence = here.fence.clone();
        let block = member_block(step, crossing.target.name.as_str());
        let result = catch_unwind(AssertUnwindSafe(|| walk.block(block, here)))
            .unwrap_or_else(|_| Err(bug(step, Bug::BranchPanicked)));
        match (fence.as_ref().and_then(|fence| fence.lost()), result) {
            // Whatever has dealt with it: nobody knows what is on the target.
            (Some((path, trouble)), Ok(()) | Err(Halt::Failed(_) | Halt::Stopped(_))) => {
                let failure = Failure::new(path.into(), UNAVAILABLE, Some(trouble.clone()));
                Err(Halt::Failed(Box::new(failure)))
            }
            (_, result) => result,
        }
    }

    /// The journal of a target, where the run has an order.
    fn fence(&self, crossing: &Crossing, here: &Context<'p>) -> Result<Option<Fence>, Halt> {
        let (Some(fencing), Some(site)) = (self.walk.job.fence, &here.site) else {
            return Ok(None);
        };
        let (name, lost) = (crossing.target.name.as_str(), crossing.settings.lost.map(length));
        let fence = Fence::open(fencing, name, lost, site, &here.stop);
        if fence.is_err() {
            go_on(&here.stop)?;
        }
        fence.map(Some).map_err(|trouble| failed(self.begun.step, code_of(&trouble), trouble))
    }

    /// Notes a target that may not start.
    fn note_denied(&self, crew: &Crew<'_, 'p>, index: usize, why: &str) {
        let name = crew.fleet.crossings[index].target.name.as_str();
        let message = self.walk.job.vault.scrub(why).into_owned();
        let row = TargetRow { message: Some(message), ..TargetRow::skipped(name.into()) };
        self.note_row(crew, index, row, Arc::default());
    }

    /// Notes how a target ended.
    fn note(
        &self,
        crew: &Crew<'_, 'p>,
        index: usize,
        since: Instant,
        ledger: Arc<Ledger<'p>>,
        result: Result<(), Halt>,
        is_unreached: bool,
    ) {
        let name = crew.fleet.crossings[index].target.name.as_str();
        let vault = self.walk.job.vault.on(Some(name));
        let mut row = TargetRow {
            end: TargetEnd::Ok,
            took: Some(since.elapsed()),
            ..TargetRow::skipped(name.into())
        };
        match result {
            Ok(()) => {}
            // It was stopped while it connected.
            Err(Halt::Failed(_)) if is_unreached && go_on(&crew.stop).is_err() => {
                row.end = TargetEnd::Skipped;
            }
            Err(Halt::Failed(failure)) => {
                let said = failure.trouble.as_ref();
                row.end = match said {
                    Some(said) if is_unreached && is_unreachable(said) => TargetEnd::Unreachable,
                    Some(said) if said.kind == TroubleKind::Lost => TargetEnd::Lost,
                    _ => TargetEnd::Failed,
                };
                row.code = Some(code(row.end, &failure));
                row.message = said.map(|trouble| vault.scrub(&trouble.message).into_owned());
                let help = said.into_iter().flat_map(|trouble| &trouble.help);
                row.help = help.map(|help| vault.scrub(help).into_owned()).collect();
                if !is_unreached {
                    row.step =
                        lock(&ledger.tally).failed.get(&failure.path).map(|it| it.text.clone());
                    row.path = Some(failure.path.clone());
                }
                let failed = crew.failed.fetch_add(1, Ordering::SeqCst) + 1;
                if failed > crew.fleet.tolerate && crew.fleet.on_failure == OnFailure::Cancel {
                    crew.stop.ask(Why::Cancelled);
                }
            }
            Err(Halt::Stopped(_)) => {
                row.end = if is_unreached { TargetEnd::Skipped } else { TargetEnd::Stopped };
                let stopped = lock(&ledger.tally).stopped();
                let stopped = stopped.and_then(|path| self.walk.job.plan.step(path));
                row.step =
                    stopped.map(|it| self.walk.text(it, &Lets::default(), Some(name), &vault));
                row.path = stopped.map(|step| step.path.clone());
            }
            Err(Halt::Unrecorded) => {
                *lock(&crew.halt) = Some(Halt::Unrecorded);
                crew.stop.ask(Why::Cancelled);
            }
        }
        self.note_row(crew, index, row, ledger);
    }

    fn note_row(&self, crew: &Crew<'_, 'p>, index: usize, row: TargetRow, ledger: Arc<Ledger<'p>>) {
        self.walk.job.fence.iter().for_each(|it| it.ended(&row.name, row.end));
        let ended = Kind::TargetEnded { path: &self.begun.step.path, row: row.clone() };
        let (_, recorded) = self.walk.record(ended, self.here.target());
        if let Err(halt) = recorded {
            *lock(&crew.halt) = Some(halt);
        }
        lock(&crew.rows)[index] = Some(Ended { row, ledger });
    }

    /// What the fleet came to.
    fn settle(&self, crew: Crew<'_, 'p>) -> Result<(), Halt> {
        let (walk, step, here) = (self.walk, self.begun.step, &*self.here);
        let Crew { fleet, parts, rows, failed: count, halt, queue, .. } = crew;
        queue.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).show(&here.screen);
        let (count, tolerate) = (count.into_inner(), fleet.tolerate);
        let is_tolerated = count <= tolerate;
        let ended = rows.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut rows = Vec::new();
        for ((crossing, part), ended) in fleet.crossings.iter().zip(parts).zip(ended) {
            match (part, ended) {
                (_, Some(Ended { row, ledger })) => {
                    let counts = lock(&ledger.tally).counts();
                    lock(&here.ledger.tally).add(&step.path, counts, is_tolerated);
                    rows.push(row);
                }
                (Part::Earlier(row), None) => rows.push(row),
                (Part::Runs(_), None) => {
                    rows.push(TargetRow::skipped(crossing.target.name.as_str().into()));
                }
            }
        }
        let first = rows.iter().find(|row| row.end.is_failure()).and_then(|row| row.code);
        let has_lost = rows.iter().any(|row| row.end == TargetEnd::Lost);
        let all = rows.len();
        let table = FleetTable { path: step.path.clone(), rows: rows.clone() };
        lock(&walk.fleets).insert(&step.path, table);
        walk.tell(Kind::Targets { path: &step.path, rows }, here)?;
        if let Some(halt) = lock(&halt).take() {
            return Err(halt);
        }
        go_on(&here.stop)?;
        if is_tolerated {
            return Ok(());
        }
        let error = StepError::TargetsFailed { failed: count, all, tolerate };
        let mut halt = failed(step, first.unwrap_or(1), error);
        if let Halt::Failed(failure) = &mut halt {
            failure.has_lost |= has_lost;
        }
        Err(halt)
    }
}

/// What a target ends with, for the exit code of the fleet.
fn code(end: TargetEnd, failure: &Failure) -> i32 {
    match end {
        TargetEnd::Lost => UNAVAILABLE,
        _ => failure.code,
    }
}
