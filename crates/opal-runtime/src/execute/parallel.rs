//! Branches side by side.
//!
//! Every step, plain block, body of an `if` or `when` and iteration of a loop that stands directly in
//! the block is a branch. Branches are taken up in the order of the plan; which of those that are
//! taken up together starts first is open.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use opal_core::action::{Halt, OnFailure, Why};
use opal_core::plan::Step;
use opal_core::record::{Kind, Shown};

use super::here::{Here, In};
use super::screen::{Screen, lock};
use super::walk::{bug, go_on};
use super::{STACK_BYTES, Walk};
use crate::stop::Stop;
use crate::witness::{Progress, Running};

/// Branches of one block that run at a time, whatever it says.
const MAX_AT_A_TIME: usize = 1000;

/// How many branches may be at work in the whole run.
#[derive(Debug)]
pub(super) struct Places {
    /// None where nothing limits them.
    free: Option<Mutex<usize>>,
    freed: Condvar,
}

impl Places {
    pub(super) fn new(jobs: Option<usize>) -> Self {
        Self { free: jobs.map(|jobs| Mutex::new(jobs.max(1))), freed: Condvar::new() }
    }

    fn take(&self) {
        if let Some(free) = &self.free {
            let free = self.freed.wait_while(lock(free), |free| *free == 0);
            *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        }
    }

    fn give_back(&self) {
        if let Some(free) = &self.free {
            *lock(free) += 1;
            self.freed.notify_one();
        }
    }
}

/// The branches of one block, for those who watch.
pub(super) struct Watch<'p> {
    path: &'p str,
    total: usize,
    around: Arc<Screen<'p>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    done: usize,
    failed: usize,
    running: BTreeMap<usize, (Shown<'static>, Instant)>,
}

impl<'p> Watch<'p> {
    /// The branch has come to a step.
    pub(super) fn at(&self, index: usize, text: &Shown<'_>) {
        let text = text.clone().into_owned();
        let mut seen = lock(&self.seen);
        seen.running.insert(index, (text, Instant::now()));
        self.tell(&seen);
    }

    fn ended(&self, index: usize, is_failed: bool) {
        let mut seen = lock(&self.seen);
        seen.running.remove(&index);
        seen.done += 1;
        seen.failed += usize::from(is_failed);
        self.tell(&seen);
    }

    fn tell(&self, seen: &Seen) {
        let running = seen.running.values();
        let running = running.map(|(text, since)| Running { text: text.borrowed(), since: *since });
        let running: Vec<Running<'_>> = running.collect();
        let (done, failed) = (seen.done, seen.failed);
        let (path, total) = (self.path, self.total);
        self.around.progress(&Progress { path, total, done, failed, running: &running });
    }
}

/// Which branch is shown, and what waits behind it.
#[derive(Default)]
struct Queue<'p> {
    front: usize,
    /// Of branches that have begun, until they have been shown.
    screens: BTreeMap<usize, (Arc<Screen<'p>>, bool)>,
}

impl<'p> Queue<'p> {
    fn begin(
        &mut self,
        index: usize,
        around: &Arc<Screen<'p>>,
        watch: &Arc<Watch<'p>>,
    ) -> Arc<Screen<'p>> {
        let screen = around.of_branch(Arc::clone(watch), index, index == self.front);
        self.screens.insert(index, (Arc::clone(&screen), false));
        screen
    }

    /// Shows what has waited for this branch, where it was the one in front.
    fn end(&mut self, index: usize) {
        if let Some((_, has_ended)) = self.screens.get_mut(&index) {
            *has_ended = true;
        }
        while let Some((_, true)) = self.screens.get(&self.front) {
            self.screens.remove(&self.front);
            self.front += 1;
            if let Some((next, _)) = self.screens.get(&self.front) {
                next.go_live();
            }
        }
    }
}

/// All that the threads of one block share.
struct Team<'p> {
    step: &'p Step,
    branches: Vec<&'p [Step]>,
    next: AtomicUsize,
    stop: Stop,
    on_failure: OnFailure,
    watch: Arc<Watch<'p>>,
    queue: Mutex<Queue<'p>>,
    /// The branch that stopped the others, or the first in the plan that failed.
    failed: Mutex<Option<(usize, Halt)>>,
}

impl<'p> Walk<'p> {
    pub(super) fn branches(
        &'p self,
        step: &'p Step,
        here: &Here<'p>,
        most: Option<usize>,
        on_failure: OnFailure,
    ) -> Result<(), Halt> {
        let branches = self.to_run(&step.block, here)?;
        let count = branches.len();
        let limits = [most, self.job.jobs, Some(MAX_AT_A_TIME)];
        let most = limits.into_iter().flatten().min().unwrap_or(count).clamp(1, count.max(1));
        self.tell(Kind::Branches { path: &step.path, count, most }, here)?;
        let watch = Watch {
            path: &step.path,
            total: count,
            around: Arc::clone(&here.screen),
            seen: Mutex::default(),
        };
        let team = Team {
            step,
            branches,
            next: AtomicUsize::new(0),
            stop: here.stop.below(),
            on_failure,
            watch: Arc::new(watch),
            queue: Mutex::default(),
            failed: Mutex::default(),
        };
        // It waits, so others may work in its place.
        if here.has_place {
            self.places.give_back();
        }
        std::thread::scope(|scope| {
            let work = || self.work(&team, here);
            for _ in 1..most {
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
                // With fewer threads it takes longer, and that is all.
                if thread.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        if here.has_place {
            self.places.take();
        }
        match lock(&team.failed).take() {
            Some((_, halt)) => Err(halt),
            None => go_on(&team.stop),
        }
    }

    /// The branches of a block. Those before the first step of the run are skipped here, since a
    /// branch does not know the step that it is the body of.
    fn to_run(&'p self, block: &'p [Step], here: &Here<'p>) -> Result<Vec<&'p [Step]>, Halt> {
        let mut branches = Vec::new();
        for step in block {
            if self.from.skips(step) {
                self.skip(step, &mut here.clone())?;
                continue;
            }
            match &*step.decorator {
                "for" | "while" => {
                    self.from.reach(step);
                    branches.extend(self.to_run(&step.block, here)?);
                }
                "if" | "when" | "block" | "iteration" => {
                    self.from.reach(step);
                    branches.push(step.block.as_slice());
                }
                "require" => {}
                _ => branches.push(std::slice::from_ref(step)),
            }
        }
        branches.retain(|steps| !steps.is_empty());
        Ok(branches)
    }

    /// Runs branches until there are no more.
    fn work(&'p self, team: &Team<'p>, here: &Here<'p>) {
        loop {
            let index = team.next.fetch_add(1, Ordering::SeqCst);
            let Some(branch) = team.branches.get(index) else { return };
            self.places.take();
            let result = go_on(&team.stop).and_then(|()| self.check_record());
            let screen = lock(&team.queue).begin(index, &here.screen, &team.watch);
            let result = result.and_then(|()| {
                let inner = Here {
                    stop: team.stop.clone(),
                    stdin: In::Nothing,
                    screen,
                    has_place: true,
                    ..here.clone()
                };
                catch_unwind(AssertUnwindSafe(|| self.block(branch, inner)))
                    .unwrap_or_else(|_| Err(bug(team.step, "a branch panicked".to_owned())))
            });
            self.places.give_back();
            let is_failed = matches!(result, Err(Halt::Failed(_)));
            if let Err(halt) = result {
                team.note(index, halt);
            }
            lock(&team.queue).end(index);
            team.watch.ended(index, is_failed);
        }
    }
}

impl Team<'_> {
    fn note(&self, index: usize, halt: Halt) {
        let mut failed = lock(&self.failed);
        let replaces = match (&*failed, &halt, self.on_failure) {
            (_, Halt::Unrecorded, _) => true,
            // What the block itself was told is known without it.
            (_, Halt::Stopped(_), _) | (Some((_, Halt::Unrecorded)), ..) => false,
            (None, ..) => true,
            (Some(_), _, OnFailure::Cancel) => false,
            (Some((first, _)), _, OnFailure::Wait) => index < *first,
        };
        let stops = self.on_failure == OnFailure::Cancel || halt == Halt::Unrecorded;
        if stops && !matches!(halt, Halt::Stopped(_)) {
            self.stop.ask(Why::Cancelled);
        }
        if replaces {
            *failed = Some((index, halt));
        }
    }
}
