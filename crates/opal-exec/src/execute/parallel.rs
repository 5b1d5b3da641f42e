//! Branches in parallel.
//!
//! Every step, plain block, body of an `if` or `when` and iteration of a loop that is directly in
//! the block is a branch. Branches are taken up in the order of the plan, each when those that hold
//! what it depends on have ended well; the order among those that start together is undefined.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use opal_core::action::{BranchOutput, Failure, Halt, OnFailure, Why};
use opal_core::plan::{Node, Step, all};
use opal_core::resource;
use opal_vault::event::Kind;

use super::context::{Context, In};
use super::halts::{bug, go_on};
use super::labels::{Lane, labels};
use super::run::Walk;
use super::screen::{Queue, Watch};
use super::turns::Turns;
use crate::error::Bug;
use crate::threads::{STACK_BYTES, lock};
use opal_session::stop::Stop;

/// Branches of one block that run at a time, whatever it says.
const MAX_AT_A_TIME: usize = 1000;

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
        here: &Context<'p>,
        most: Option<usize>,
        on_failure: OnFailure,
        output: BranchOutput,
    ) -> Result<(), Halt> {
        let branches = self.to_run(&step.block, here)?;
        let count = branches.len();
        let labels = match output {
            // What is folded is shown later, and then nothing runs beside it.
            BranchOutput::Prefixed if !here.screen.is_folded() => {
                labels(self.job, &branches, here.screen.label())
            }
            BranchOutput::Prefixed | BranchOutput::Grouped | BranchOutput::Folded => Vec::new(),
        };
        let branches: Vec<&[Step]> = branches.into_iter().map(|branch| branch.steps).collect();
        let limits = [most, self.job.jobs, Some(MAX_AT_A_TIME)];
        let most = limits.into_iter().flatten().min().unwrap_or(count).clamp(1, count.max(1));
        self.tell(Kind::Branches { path: &step.path, count, most }, here)?;
        let team = Team {
            step,
            turns: Turns::new(&self.waits(&branches)),
            branches,
            stop: here.stop.below(),
            on_failure,
            watch: Watch::new(&step.path, count, &here.screen, labels, false),
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
            None if team.turns.left() > 0 => Err(bug(step, Bug::BranchesWait)),
            None => go_on(&team.stop),
        }
    }

    /// For each branch those that hold what it depends on.
    fn waits(&self, branches: &[&'p [Step]]) -> Vec<BTreeSet<usize>> {
        let values = self.job.values;
        let mut waits = vec![BTreeSet::new(); branches.len()];
        let (mut ids, mut wanted) = (BTreeMap::new(), Vec::new());
        for (index, branch) in branches.iter().enumerate() {
            for step in all(branch) {
                if self.described(step).is_some() {
                    ids.extend(resource::id(step, values).map(|id| (id, index)));
                    let after = resource::depends_on(step, values).into_iter();
                    wanted.extend(after.map(|id| (index, id)));
                }
            }
        }
        for (index, id) in wanted {
            waits[index].extend(ids.get(id).filter(|other| **other != index));
        }
        waits
    }

    /// The branches of a block. Those before the first step of the run are skipped here, since a
    /// branch does not know the step that it is the body of.
    fn to_run(&'p self, block: &'p [Step], here: &Context<'p>) -> Result<Vec<Lane<'p>>, Halt> {
        let mut branches = Vec::new();
        for step in block {
            if here.from.skips(step) {
                self.skip(step, &mut here.clone())?;
                continue;
            }
            match step.node {
                Node::For | Node::While => {
                    here.from.reach(step);
                    branches.extend(self.to_run(&step.block, here)?);
                }
                Node::If | Node::When | Node::Block | Node::Iteration => {
                    here.from.reach(step);
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
    fn work(&'p self, team: &Team<'p>, here: &Context<'p>) {
        while let Some(index) = team.turns.take() {
            self.places.take();
            let result = go_on(&team.stop).and_then(|()| self.check_record(here));
            let inner = self.enter(team, index, here);
            let result = result.and_then(|()| {
                let branch = team.branches[index];
                catch_unwind(AssertUnwindSafe(|| self.block(branch, inner)))
                    .unwrap_or_else(|_| Err(bug(team.step, Bug::BranchPanicked)))
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

    fn enter(&'p self, team: &Team<'p>, index: usize, here: &Context<'p>) -> Context<'p> {
        let screen = lock(&team.queue).begin(index, &here.screen, &team.watch);
        let stop = team.stop.clone();
        Context { stop, stdin: In::Nothing, screen, has_place: true, ..here.clone() }
    }

    /// What depends on a branch that has failed does not run.
    fn leave_out_after(&'p self, team: &Team<'p>, failed: usize, here: &Context<'p>) {
        let left_out = team.turns.failed(failed);
        left_out.iter().for_each(|&index| self.note_left_out(team.branches[index], here));
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
            // The reason that the block itself was given is known without it.
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
