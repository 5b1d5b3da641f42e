//! Runs a plan.
//!
//! ```text
//! Plan + values ──walk──▶ steps ──act──▶ Stage ──▶ Session ──raw──▶ scrubber ─┬─▶ Recorder
//!                                                                             └─▶ Screen ──▶ Audience
//! ```
//!
//! | what | where |
//! |---|---|
//! | blocks, constructs, `try` | `walk` |
//! | a step from its start to its end: events, bindings | `call` |
//! | what actions may do | `stage`, commands in `command` |
//! | `&&`, `||`, `;` and pipes | `chain` |
//! | branches side by side, each when its turn has come, and their names | `parallel`, `turns`, `labels` |
//! | what the steps came to | `tally` |
//! | what describes a state: looked at, brought about, looked at again | `resource`, `alone` |
//! | whether all of it is still so at the end | `last` |
//! | redirections to and from decorators, and as the shell writes them | `redirect` |
//! | arguments to values, run-time ones included | `values`, `inputs`, `lets`, `handles` |
//! | what holds where a step stands | `here` |
//! | what was hidden and not declared secret | `undeclared` |
//! | output and events, in the order of the plan | `show`, `screen`, `pump` |
//! | what must hold before anything runs | `prepare`; in the middle of a plan `begin`, `from`, `together` |
//!
//! **Directories.** Where a step leaves off, the next step of its block goes on, and so does the
//! next operand of `&&`, `||` and `;`, as in a shell. Everything in braces is a block: the body of an
//! `if`, an iteration, a plain block, the body of a function, of a decorator and of `try`. What
//! happens to the directory in a block, in an operand of `|`, in a branch or in an attempt, ends with
//! it.
//!
//! Deliberately not here: planning. A plan is all that is known of a program.

mod alone;
mod begin;
mod call;
mod chain;
mod command;
mod from;
mod handles;
mod here;
mod inputs;
mod labels;
mod last;
mod lets;
mod parallel;
mod prepare;
mod pump;
mod redirect;
mod resource;
mod screen;
mod show;
mod stage;
mod tally;
mod together;
mod turns;
mod undeclared;
mod unselected;
mod values;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use opal_core::action::{BranchOutput, Failure, Halt, Why};
use opal_core::plan::{Key, Plan, Step};
use opal_core::resolver::Trouble;
use opal_core::resource::Status;
use opal_core::view::{Visible, captured_key, running_text};
use opal_core::{Data, Registry, Showing};
use opal_vault::Shown;
use opal_vault::event::Counts;
use opal_vault::verification::Verification;

use crate::verify::Report;
use opal_session::Session;
use opal_session::stop::Stop;
use opal_vault::Vault;
use opal_vault::witness::{Audience, Recorder};

pub(crate) use from::moves;
pub(crate) use inputs::inputs;
pub(crate) use values::{Values, is_open};

pub use begin::can_begin;
pub use from::leaf;
pub use opal_core::unready::Unready;
pub use prepare::{Question, prepare, questions, register, register_planned};
pub use together::together;

use here::Here;
use lets::Lets;
use screen::lock;
use tally::{Late, Tally};

/// Stack of a thread that runs steps or looks at what they describe: that of a main thread, so that a
/// template may nest as deeply in one of many steps as in a single one. It is only reserved.
pub(crate) const STACK_BYTES: usize = 8 * 1024 * 1024;

/// A plan to be run, and all that takes part in it.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub plan: &'a Plan,
    /// By the keys of [`Plan::values`].
    pub values: &'a BTreeMap<Key, Data>,
    /// Who may see which of them.
    pub showing: &'a Showing,
    pub registry: &'a Registry,
    pub session: &'a dyn Session,
    /// Where the first step stands: absolute.
    pub start: &'a Path,
    /// Where relative paths of resources begin: the directory of the source. Absolute.
    pub base: &'a Path,
    /// Knows every value of the plan: see [`register`].
    pub vault: &'a Vault,
    pub recorder: &'a dyn Recorder,
    pub audience: &'a dyn Audience,
    pub stop: &'a Stop,
    /// The most branches at work at a time, over the whole run.
    pub jobs: Option<usize>,
    /// How parallel branches are shown.
    pub output: ShownBranches,
    /// The path of the first step to run; those before it are skipped.
    pub from: Option<&'a str>,
    /// The paths of the resources that were selected; the other steps are skipped. None for all.
    pub selected: Option<&'a BTreeSet<Box<str>>>,
    /// A look at all resources before the run: what was satisfied then is not looked at again, as long
    /// as nothing has been done.
    pub known: Option<&'a Report>,
    /// Whether the steps say together what is to be at the end, as those of a configuration do, instead
    /// of one behind the other what is to be done.
    pub is_declared: bool,
    /// Whether steps may read what opal itself reads.
    pub stdin: bool,
    pub clock: fn() -> SystemTime,
}

/// How the output of parallel branches is shown.
#[derive(Clone, Copy, Debug)]
pub struct ShownBranches {
    /// Whatever the source says.
    pub asked: Option<BranchOutput>,
    /// Where neither the caller nor the source says anything.
    pub usual: BranchOutput,
}

impl ShownBranches {
    /// One branch after the other, unless the source says otherwise.
    pub const GROUPED: Self = Self { asked: None, usual: BranchOutput::Grouped };

    fn of_block(self, output: Option<BranchOutput>) -> BranchOutput {
        self.asked.or(output).unwrap_or(self.usual)
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it did not go to its end.
    pub halt: Option<Halt>,
    pub steps: Counts,
    /// The step that the run failed with, or that was at work when its time was over.
    pub failed: Option<FailedStep>,
    /// Steps of other branches that failed as well, in the order of the plan.
    pub beside: Vec<FailedStep>,
    /// How many more of those there were.
    pub more: usize,
    /// The names of the steps that were at work when the time of the run was over.
    pub late: Vec<Box<str>>,
    /// Whether `finally` blocks ran because the run was told to stop.
    pub cleaned_up: bool,
    /// Whether every step went well, and what some had described was no longer so at the end.
    pub is_undone: bool,
    /// The keys of values that were hidden in what it showed, though nobody declared them secret.
    pub hidden: Vec<Box<str>>,
}

#[derive(Clone, Debug)]
pub struct FailedStep {
    pub path: String,
    /// As in its events; none where it failed before it started.
    pub number: Option<u64>,
    pub attempt: u32,
    pub code: i32,
    /// The step as the plan shows it.
    pub text: Shown<'static>,
    /// What opal itself has to say about it. Holds no value.
    pub trouble: Option<Trouble>,
}

impl FailedStep {
    fn is_of(&self, failure: &Failure) -> bool {
        (self.code, &self.trouble) == (failure.code, &failure.trouble)
    }
}

/// Runs the steps of a plan that [`prepare`] has found ready.
#[must_use]
pub fn execute(job: &Job<'_>) -> Outcome {
    let walk = Walk::new(job);
    let ended = walk.run().and_then(|()| walk.last_look());
    let halt = ended.err().map(|halt| match (halt, job.stop.why()) {
        // What stopped the run is what counts, whatever its parts were told.
        (Halt::Stopped(_), Some(why)) => Halt::Stopped(why),
        (halt, _) => halt,
    });
    let is_late = matches!(halt, Some(Halt::Stopped(Why::TimedOut)));
    let late = if is_late { walk.late("") } else { Vec::new() };
    let tally = lock(&walk.tally);
    let step = |failure: &Failure| {
        let begun = tally.failed.get(&failure.path).filter(|step| step.is_of(failure));
        // Where the time of a block was over, the step that took too long is the one to know about.
        let blamed = tally.blamed.get(&failure.path).filter(|_| failure.code == call::TIMED_OUT);
        match (begun, blamed) {
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
    let beside = failure.map_or(&[][..], |failure| &failure.beside);
    Outcome {
        steps: tally.counts(),
        failed: failed.or_else(|| Some(late.first()?.step.clone())),
        beside: beside.iter().filter_map(step).collect(),
        more: failure.map_or(0, |failure| failure.more),
        halt,
        late: late.into_iter().map(|late| late.name).collect(),
        cleaned_up: walk.is_cleaning.load(Ordering::SeqCst),
        is_undone: walk.is_undone.load(Ordering::SeqCst),
        hidden: undeclared::undeclared(job),
    }
}

/// One run: what its blocks and branches share.
struct Walk<'p> {
    job: &'p Job<'p>,
    from: from::From<'p>,
    reads: handles::Reads<'p>,
    /// The number of the last step that started.
    number: AtomicU64,
    is_unrecorded: AtomicBool,
    is_cleaning: AtomicBool,
    places: parallel::Places,
    alone: alone::Alone,
    tally: Mutex<Tally<'p>>,
    /// What became of resources, by their ids.
    fates: Mutex<BTreeMap<&'p str, resource::Fate>>,
    /// The ids of all steps, once somebody asks.
    ids: OnceLock<BTreeSet<&'p str>>,
    /// The ids that selected steps depend on, once somebody asks.
    needed: OnceLock<BTreeSet<&'p str>>,
    /// Whether a step has done something: what was satisfied before may no longer be.
    has_acted: AtomicBool,
    /// How often a change of what is described was begun or ended.
    changed: AtomicU64,
    /// What is to be so at the end, by the paths of the steps.
    kept: Mutex<BTreeMap<&'p str, last::Kept<'p>>>,
    is_undone: AtomicBool,
    /// What was satisfied before the run, by the paths of the steps.
    satisfied: BTreeMap<&'p str, &'p Verification>,
}

impl<'p> Walk<'p> {
    fn new(job: &'p Job<'p>) -> Self {
        Self {
            job,
            from: from::From::new(job.plan, job.from),
            reads: handles::Reads::of(job.plan),
            number: AtomicU64::new(0),
            is_unrecorded: AtomicBool::new(false),
            is_cleaning: AtomicBool::new(false),
            places: parallel::Places::new(job.jobs),
            alone: alone::Alone::default(),
            tally: Mutex::default(),
            fates: Mutex::default(),
            needed: OnceLock::new(),
            ids: OnceLock::new(),
            has_acted: AtomicBool::new(false),
            changed: AtomicU64::new(0),
            kept: Mutex::default(),
            is_undone: AtomicBool::new(false),
            satisfied: job.known.map(satisfied).unwrap_or_default(),
        }
    }

    /// The path of the step that failed, as the plan has it.
    fn path(&self, failure: &Failure) -> &'p str {
        prepare::find(&self.job.plan.steps, &failure.path).map_or("", |step| &step.path)
    }

    /// A step as people see it.
    fn text(&self, step: &Step, lets: &Lets) -> Shown<'static> {
        let Job { plan, registry, showing, vault, .. } = self.job;
        // A resource goes by its id and name, all else by what was written.
        let label = self.described(step).and_then(|it| opal_core::resource::label(plan, step, it));
        let text = label.unwrap_or_else(|| {
            let mut captured = BTreeMap::new();
            handles::handles(step, &mut |handle| {
                let value = lets.shown(handle).map(|value| (captured_key(handle), value));
                captured.extend(value);
            });
            let visible = Visible { values: &showing.visible, captured };
            running_text(plan, step, registry, &visible)
        });
        vault.scrub(&text)
    }

    /// A step that failed although it never started: it was skipped, or could not be connected.
    fn unbegun(&self, failure: &Failure) -> Option<FailedStep> {
        let step = prepare::find(&self.job.plan.steps, &failure.path)?;
        let text = self.text(step, &Lets::default());
        let Failure { path, code, trouble, .. } = failure.clone();
        Some(FailedStep { path: path.into(), number: None, attempt: 1, code, text, trouble })
    }

    /// The record cannot be written: nothing more may start, except what cleans up.
    fn lose_record(&self) {
        self.is_unrecorded.store(true, Ordering::SeqCst);
    }

    fn check_record(&self, here: &Here<'_>) -> Result<(), Halt> {
        match self.is_unrecorded.load(Ordering::SeqCst) && !here.is_cleaning {
            true => Err(Halt::Unrecorded),
            false => Ok(()),
        }
    }
}

fn satisfied(report: &Report) -> BTreeMap<&str, &Verification> {
    let all = report.verifications.iter().filter(|it| it.status == Status::Satisfied);
    all.map(|it| (&*it.path, it)).collect()
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("target", &self.plan.target)
            .field("start", &self.start)
            .field("jobs", &self.jobs)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
