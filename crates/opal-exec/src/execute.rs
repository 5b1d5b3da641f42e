//! Runs a plan.
//!
//! ```text
//! Plan + values ──walk──▶ steps ──act──▶ Stage ──▶ Session ──raw──▶ scrubber ─┬─▶ Recorder
//!                                                                             └─▶ Screen ──▶ Audience
//! ```
//!
//! | what | where |
//! |---|---|
//! | a run from outside: what it is given, how it ended | `job` |
//! | a run from inside: what its blocks and branches share | `run` |
//! | blocks, constructs, `try` | `walk` |
//! | a step from its start to its end: events, bindings | `call` |
//! | what actions may do | `actor`, `stage`, commands in `command` |
//! | how a step ends that cannot go on | `halts` |
//! | a block on a target, and on many | `crossing`, `fleet`; which targets take part, and where they begin, `roster` |
//! | a target that other runners may take over: its journal, what they have done | `fence`; who is asked and informed, `fencing` |
//! | `&&`, `||`, `;` and pipes | `chain` |
//! | branches in parallel, each when its turn has come, and their names | `parallel`, `turns`, `labels`, `places` |
//! | what the steps came to | `tally`, `ledger` |
//! | what describes a state: verified, applied, verified again | `resource`, `fates` |
//! | whether all of it is still so at the end | `final_check` |
//! | what a block does, to compare it with an earlier one | `identity` |
//! | redirections to and from decorators, and as the shell writes them | `redirect` |
//! | decorators that run beside a step, at its streams | `streams` |
//! | arguments to values, run-time ones included | `values`, `inputs`, `lets`, `handles` |
//! | what holds where a step is | `context` |
//! | the steps of a plan, without running them | `steps` |
//! | steps that do not run | `skip` |
//! | what was hidden and not declared secret | `undeclared` |
//! | output and events, in the order of the plan | `show`, `screen`, `pump`; of the targets of a fleet, `order` |
//! | what must hold before anything runs | `prepare`; in the middle of a plan `resume` |
//!
//! **Directories.** Where a step leaves off, the next step of its block goes on, and so does the
//! next operand of `&&`, `||` and `;`, as in a shell. Everything in braces is a block: the body of an
//! `if`, an iteration, a plain block, the body of a function, of a decorator and of `try`. What
//! happens to the directory in a block, in an operand of `|`, in a branch or in an attempt, ends with
//! it.
//!
//! Deliberately not here: planning. A plan is all that is known of a program.

mod actor;
mod call;
mod chain;
mod command;
mod context;
mod crossing;
mod fates;
mod fence;
mod fencing;
mod final_check;
mod fleet;
mod halts;
mod handles;
mod identity;
mod inputs;
mod job;
mod labels;
mod ledger;
mod lets;
mod order;
mod parallel;
mod places;
mod prepare;
mod pump;
mod ready;
mod redirect;
mod resource;
mod resume;
mod roster;
mod run;
mod screen;
mod sending;
mod show;
mod skip;
mod stage;
mod steps;
mod streams;
mod tally;
mod turns;
mod undeclared;
mod values;
mod walk;

use std::sync::atomic::Ordering;

use opal_core::action::{Failure, Halt, Why};

use crate::threads::lock;
use run::Walk;

pub(crate) use chain::{Ends, follow};
pub(crate) use identity::{identity, unknown_values};
pub(crate) use inputs::inputs;
pub(crate) use steps::moves;
pub(crate) use values::{Values, is_open};

pub use fencing::Fencing;
pub use job::{FailedStep, Job, Outcome, ShownBranches};
pub use opal_core::unready::Unready;
pub use prepare::{Question, prepare, questions, register, register_planned};
pub use resume::{can_begin, together};
pub use roster::{can_continue, continued};
pub use steps::leaf;

/// Runs the steps of a plan that [`prepare`] has found ready.
#[must_use]
pub fn execute(job: &Job<'_>) -> Outcome {
    let walk = Walk::new(job);
    let ended = walk.run().and_then(|()| walk.final_check());
    let halt = ended.err().map(|halt| match (halt, job.stop.why()) {
        // What stopped the run is what counts, whatever reason its parts were given.
        (Halt::Stopped(_), Some(why)) => Halt::Stopped(why),
        (halt, _) => halt,
    });
    let is_late = matches!(halt, Some(Halt::Stopped(Why::TimedOut)));
    let late = if is_late { walk.ledger.late("") } else { Vec::new() };
    let tally = lock(&walk.ledger.tally);
    let step = |failure: &Failure| {
        let begun = tally.failed.get(&failure.path).filter(|step| step.is_of(failure));
        match (begun, tally.blamed(failure)) {
            (Some(begun), Some(blamed)) => {
                let (code, trouble) = (begun.code, begun.trouble.clone());
                Some(FailedStep { code, trouble, ..blamed.clone() })
            }
            (begun, _) => begun.cloned().or_else(|| walk.unbegun(failure)),
        }
    };
    let failure = match &halt {
        Some(Halt::Failed(failure)) => Some(failure),
        _ => None,
    };
    let failed = failure.and_then(|failure| step(failure));
    let (beside, more) = match failure {
        Some(failure) => (failure.beside.iter().filter_map(step).collect(), failure.more),
        // It was stopped, and what failed before or while it cleaned up is beside that.
        None => tally.uncaught(),
    };
    let mut fleets = std::mem::take(&mut *lock(&walk.fleets));
    let fleets = job.plan.all_steps().filter_map(|step| fleets.remove(&*step.path)).collect();
    Outcome {
        steps: tally.counts(),
        fleets,
        failed: failed.or_else(|| Some(late.first()?.step.clone())),
        beside,
        more,
        halt,
        late: late.into_iter().map(|late| late.name).collect(),
        cleaned_up: walk.is_cleaning.load(Ordering::SeqCst),
        is_undone: walk.is_undone.load(Ordering::SeqCst),
        hidden: undeclared::undeclared(job),
        unclosed: std::mem::take(&mut *lock(&walk.open)),
    }
}
