//! Branches side by side.
//!
//! Every step, plain block, body of an `if` or `when` and iteration of a loop that stands directly in
//! the block is a branch. Branches are taken up in the order of the plan, each when those that hold
//! what it depends on have ended well; which of those that are taken up together starts first is open.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use opal_core::action::{BranchOutput, Failure, Halt, OnFailure, Why};
use opal_core::plan::{Node, Step};
use opal_core::resource;
use opal_vault::Shown;
use opal_vault::event::{Branch, Kind};

use super::here::{Here, In};
use super::labels::Lane;
use super::prepare::walk;
use super::screen::{Screen, lock};
use super::turns::Turns;
use super::walk::{bug, go_on};
use super::{STACK_BYTES, Walk};
use opal_session::stop::Stop;
use opal_vault::witness::{Progress, Running};

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
    /// Of each branch; empty where their output is grouped.
    labels: Vec<Branch>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    done: usize,
    failed: usize,
    running: BTreeMap<usize, (Shown<'static>, Instant)>,
}

impl<'p> Watch<'p> {
    /// What the lines of a branch begin with.
    pub(super) fn label(&self, index: usize) -> Option<Branch> {
        self.labels.get(index).cloned()
    }

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
        let is_live = index == self.front || !watch.labels.is_empty();
        let screen = around.of_branch(Arc::clone(watch), index, is_live);
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
    turns: Turns,
    stop: Stop,
    on_failure: OnFailure,
    watch: Arc<Watch<'p>>,
    queue: Mutex<Queue<'p>>,
    failed: Mutex<Noted>,
}

/// What branches have failed with.
#[derive(Default)]
struct Noted {
    is_unrecorded: bool,
    /// Of the branch that stopped the others, or of all that failed.
    failures: BTreeMap<usize, Box<Failure>>,
}

impl<'p> Walk<'p> {
    pub(super) fn branches(
        &'p self,
        step: &'p Step,
        here: &Here<'p>,
        most: Option<usize>,
        (on_failure, output): (OnFailure, BranchOutput),
    ) -> Result<(), Halt> {
        let branches = self.to_run(&step.block, here)?;
        let count = branches.len();
        let labels = match output {
            BranchOutput::Prefixed => self.labels(&branches, here.screen.label()),
            BranchOutput::Grouped => Vec::new(),
        };
        let branches: Vec<&[Step]> = branches.into_iter().map(|branch| branch.steps).collect();
        let limits = [most, self.job.jobs, Some(MAX_AT_A_TIME)];
        let most = limits.into_iter().flatten().min().unwrap_or(count).clamp(1, count.max(1));
        self.tell(Kind::Branches { path: &step.path, count, most }, here)?;
        let watch = Watch {
            path: &step.path,
            total: count,
            around: Arc::clone(&here.screen),
            labels,
            seen: Mutex::default(),
        };
        let team = Team {
            step,
            turns: Turns::new(&self.waits(&branches)),
            branches,
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
        match std::mem::take(&mut *lock(&team.failed)).halt() {
            Some(halt) => Err(halt),
            None if team.turns.left() > 0 => {
                Err(bug(step, "its branches wait for each other".to_owned()))
            }
            None => go_on(&team.stop),
        }
    }

    /// For each branch those that hold what it depends on.
    fn waits(&self, branches: &[&'p [Step]]) -> Vec<BTreeSet<usize>> {
        let values = self.job.values;
        let mut waits = vec![BTreeSet::new(); branches.len()];
        let (mut ids, mut wanted) = (BTreeMap::new(), Vec::new());
        for (index, branch) in branches.iter().enumerate() {
            walk(branch, &mut |step| {
                if self.described(step).is_some() {
                    ids.extend(resource::id(step, values).map(|id| (id, index)));
                    let after = resource::depends_on(step, values).into_iter();
                    wanted.extend(after.map(|id| (index, id)));
                }
            });
        }
        for (index, id) in wanted {
            waits[index].extend(ids.get(id).filter(|other| **other != index));
        }
        waits
    }

    /// The branches of a block. Those before the first step of the run are skipped here, since a
    /// branch does not know the step that it is the body of.
    fn to_run(&'p self, block: &'p [Step], here: &Here<'p>) -> Result<Vec<Lane<'p>>, Halt> {
        let mut branches = Vec::new();
        for step in block {
            if self.from.skips(step) {
                self.skip(step, &mut here.clone())?;
                continue;
            }
            match step.node {
                Node::For | Node::While => {
                    self.from.reach(step);
                    branches.extend(self.to_run(&step.block, here)?);
                }
                Node::If | Node::When | Node::Block | Node::Iteration => {
                    self.from.reach(step);
                    branches.push(Lane { of: step, steps: &step.block });
                }
                Node::Require => {}
                _ => branches.push(Lane { of: step, steps: std::slice::from_ref(step) }),
            }
        }
        branches.retain(|branch| !branch.steps.is_empty());
        Ok(branches)
    }

    /// Runs branches until there are no more.
    fn work(&'p self, team: &Team<'p>, here: &Here<'p>) {
        while let Some(index) = team.turns.take() {
            self.places.take();
            let result = go_on(&team.stop).and_then(|()| self.check_record(here));
            let inner = self.enter(team, index, here);
            let result = result.and_then(|()| {
                let branch = team.branches[index];
                catch_unwind(AssertUnwindSafe(|| self.block(branch, inner)))
                    .unwrap_or_else(|_| Err(bug(team.step, "a branch panicked".to_owned())))
            });
            self.places.give_back();
            let is_failed = matches!(result, Err(Halt::Failed(_)));
            if let Err(halt) = result {
                team.note(index, halt);
            }
            // Before those that wait for it can be taken up.
            lock(&team.queue).end(index);
            team.watch.ended(index, is_failed);
            if is_failed {
                self.leave_out_after(team, index, here);
            } else {
                team.turns.ended(index);
            }
        }
    }

    fn enter(&'p self, team: &Team<'p>, index: usize, here: &Here<'p>) -> Here<'p> {
        let screen = lock(&team.queue).begin(index, &here.screen, &team.watch);
        let stop = team.stop.clone();
        Here { stop, stdin: In::Nothing, screen, has_place: true, ..here.clone() }
    }

    /// What depends on a branch that has failed does not run.
    fn leave_out_after(&'p self, team: &Team<'p>, failed: usize, here: &Here<'p>) {
        let left_out = team.turns.failed(failed);
        left_out.iter().for_each(|&index| self.note_left_out(team.branches[index]));
        for index in left_out {
            let inner = self.enter(team, index, here);
            if let Err(halt) = self.leave_out(team.branches[index], &inner) {
                team.note(index, halt);
            }
            lock(&team.queue).end(index);
            team.watch.ended(index, false);
        }
    }
}

impl Team<'_> {
    fn note(&self, index: usize, halt: Halt) {
        let mut failed = lock(&self.failed);
        let stops = match halt {
            // What the block itself was told is known without it.
            Halt::Stopped(_) => return,
            Halt::Unrecorded => {
                failed.is_unrecorded = true;
                true
            }
            Halt::Failed(failure) => {
                let cancels = self.on_failure == OnFailure::Cancel;
                // What fails after that may do so because it was stopped.
                if !cancels || failed.failures.is_empty() {
                    failed.failures.insert(index, failure);
                }
                cancels
            }
        };
        if stops {
            self.stop.ask(Why::Cancelled);
        }
    }
}

impl Noted {
    /// What the block fails with: the first in the plan, and what else failed.
    fn halt(self) -> Option<Halt> {
        if self.is_unrecorded {
            return Some(Halt::Unrecorded);
        }
        let first = self.failures.into_values().reduce(|mut first, next| {
            first.join(*next);
            first
        });
        first.map(Halt::Failed)
    }
}
