//! What an execution decorator does when its turn comes, and what it is given for that.
//!
//! An action has no power of its own. It runs its block, commands and pauses through a [`Stage`],
//! which sees to everything that must hold for every step: the record, the scrubber, time limits,
//! Ctrl+C. So an action cannot forget any of it.

mod limits;
mod objects;
mod streams;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;

use crate::crossing::Crossing;
use crate::data::{Data, Secret};
use crate::duration::Duration;
use crate::files::Files;
use crate::inventory::EntryStore;
use crate::resolver::{Inputs, Probe, ScriptPart, Trouble, TroubleKind};

pub use limits::Limits;
pub use objects::{Object, ObjectNews, OpenObject};
pub use streams::{
    Incoming, KeptSink, Outgoing, Sink, Source, SourceFailure, StepFailed, StreamedSink,
};

/// Does the work of a decorator at run time.
pub trait Action: Sync + fmt::Debug {
    /// What it gives is what `let` captures; `Data::Null` where it gives nothing.
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt>;
}

/// Output that is being taken. Dropped without [`Pending::keep`], it leaves no trace.
pub trait Pending: Write + Send {
    /// Once it is kept, it shall have what the file at a path has besides mode and owner, such as
    /// access lists.
    fn resemble(&mut self, path: &Path) -> Result<(), Trouble> {
        let _ = path;
        Ok(())
    }

    /// The step has succeeded.
    fn keep(self: Box<Self>) -> Result<(), Trouble>;
}

/// What an action may do.
pub trait Stage {
    /// Runs the block of the step once, in order.
    fn block(&mut self, under: &Conditions) -> Result<(), Halt>;

    /// Runs the branches of the block in parallel, at most `most` of them at a time. Without
    /// `output` they are shown as the run shows branches.
    fn branches(
        &mut self,
        most: Option<usize>,
        on_failure: OnFailure,
        output: Option<BranchOutput>,
    ) -> Result<(), Halt>;

    /// Runs the block on every target of a fleet.
    fn fleet(&mut self, fleet: &Fleet) -> Result<(), Halt>;

    /// Runs a command to its end, whatever its exit code.
    fn command(&mut self, command: &Command<'_>) -> Result<Completed, Halt>;

    /// Whether someone reads what the action gives.
    fn is_captured(&self) -> bool;

    /// Waits, and says why; shorter where the run is stopped.
    fn pause(&mut self, pause: &Pause) -> Result<(), Halt>;

    /// Fails where the step was asked to stop: for work that asks now and then.
    fn go_on(&self) -> Result<(), Halt>;

    /// Waits; shorter where the run is stopped.
    fn wait(&mut self, duration: std::time::Duration) -> Result<(), Halt>;

    /// Cleans up after what the action has opened, within a time of its own, also where the run was asked
    /// to stop.
    fn cleaning(
        &mut self,
        limit: std::time::Duration,
        work: &mut dyn FnMut(&mut dyn Stage) -> Result<(), Halt>,
    ) -> Result<(), Halt>;

    /// Whether nothing may be changed: somebody only wants to know what the block would verify.
    fn is_pretended(&self) -> bool {
        false
    }

    /// Whether a text is, or holds, something that is hidden from people.
    fn hides(&self, text: &Secret) -> bool;

    fn log(&mut self, level: Level, message: &Secret) -> Result<(), Halt>;

    /// Records something that has to be closed, before it exists or before the block starts.
    fn opened(&mut self, object: &OpenObject<'_>) -> Result<(), Halt>;

    /// Records which object of the world the step acted on, or is about to act on.
    fn object(&mut self, object: &Object<'_>) -> Result<(), Halt>;

    /// It is closed.
    fn closed(&mut self, id: &str) -> Result<(), Halt>;

    /// Writes to the standard output of the step, as a command would.
    fn print(&mut self, text: &Secret) -> Result<(), Halt>;

    /// Passes on what comes from the pipe before it, with every known value hidden.
    fn pass_on(&mut self) -> Result<(), Halt>;

    /// A file that is to replace what is at `path`, or to grow it, in one move.
    fn replace(&mut self, replace: &Replace<'_>) -> Result<Box<dyn Pending>, Halt>;

    /// A file with a text that only this user can read. It is gone when it is dropped.
    fn text_file(&mut self, text: &str, extension: &str) -> Result<Box<dyn TextFile>, Halt>;

    /// The machine that the step acts on, read-only.
    fn probe(&self) -> Box<dyn Probe + '_>;

    /// Its files, to change.
    fn files(&self) -> Box<dyn Files + '_>;

    /// The files of opal's own machine, to change.
    fn origin_files(&self) -> Box<dyn Files + '_>;

    /// What is remembered of earlier runs, to add to; none where nothing is.
    fn entries(&self) -> Option<&dyn EntryStore>;

    /// A random number, for what nobody has to repeat: the pauses between attempts.
    fn random(&mut self) -> u64;

    /// The failure of this step where its command has said why.
    fn exit(&self, code: i32) -> Halt;

    /// The failure that the `catch` around the step deals with; none where the run did not come
    /// there by a failure.
    fn caught(&self) -> Option<Failure>;

    /// Whether a contract says what runs.
    fn is_under_contract(&self) -> bool;

    /// The failure of this step, in words.
    fn fail(&self, code: i32, trouble: Trouble) -> Halt;
}

/// A text in a file of the machine that the step acts on, or a directory there, as long as this is
/// held.
pub trait TextFile: Send + Sync {
    /// Absolute.
    fn path(&self) -> &str;
}

/// What holds for a block or a command besides what holds around it.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Where it starts: relative to where the step is.
    pub directory: Option<Directory>,
    /// The directory of an imported project, seen from that of the source: it starts there, and
    /// relative paths of its resources begin there.
    pub project: Option<String>,
    /// Variables of the environment that are set, or set again.
    pub environment: BTreeMap<String, Secret>,
    pub limit: Option<Limit>,
    /// What its processes may use.
    pub limits: Limits,
    /// Which attempt of how many this is, from 1.
    pub attempt: Option<(u32, u32)>,
    /// Where it runs, seen from the machine of the step. Nothing of what holds around it crosses.
    pub crossing: Option<Crossing>,
}

#[derive(Clone, Debug)]
pub struct Directory {
    pub path: String,
    /// Made where it is missing.
    pub create: bool,
}

/// How long something may take, and how long it has to end by itself after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub duration: Duration,
    pub grace: Duration,
}

#[derive(Clone, Debug)]
pub struct Command<'a> {
    pub script: &'a [ScriptPart],
    /// Another program than the shell of the session.
    pub interpreter: Option<&'a str>,
    pub under: Conditions,
    pub output: OutputOf,
}

/// What becomes of the output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputOf {
    /// It goes where the output of the step goes.
    Shown,
    /// It is kept for [`Completed`], neither shown nor recorded.
    Captured,
}

/// A command that has ended.
#[derive(Clone, Debug)]
pub struct Completed {
    /// 0, its exit code, or 128 and the number of the signal that ended it.
    pub code: i32,
    /// Empty unless captured.
    pub stdout: Secret,
    pub stderr: Secret,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The other branches are stopped.
    Cancel,
    /// Every branch runs to its end.
    Wait,
}

/// How the output of parallel branches is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchOutput {
    /// Live, line by line, each with the name of its branch.
    Prefixed,
    /// One branch after the other, in plan order.
    Grouped,
    /// Equal outputs of the targets of a fleet once. Branches of a `@parallel` are different steps, so
    /// they are grouped.
    Folded,
}

impl BranchOutput {
    /// The names for a `@parallel`, for help and schemas.
    pub const NAMES: &[&str] = &["prefixed", "grouped"];

    /// The names for a fleet, and for `--output`.
    pub const FLEET_NAMES: &[&str] = &["prefixed", "grouped", "folded"];

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "prefixed" => Some(Self::Prefixed),
            "grouped" => Some(Self::Grouped),
            "folded" => Some(Self::Folded),
            _ => None,
        }
    }
}

/// Many targets for one block.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// In the order of the plan.
    pub crossings: Vec<Crossing>,
    /// Targets at a time.
    pub most: usize,
    /// How many targets each batch has; one begins when the one before has ended within `tolerate`.
    pub batches: Vec<usize>,
    /// So many targets may fail.
    pub tolerate: usize,
    /// What becomes of targets at work where more have failed.
    pub on_failure: OnFailure,
    /// Whether all targets are reached before the first step runs.
    pub is_reached_first: bool,
    pub output: Option<BranchOutput>,
}

/// The time between two attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    pub duration: Duration,
    /// The attempt that failed, and how many there may be.
    pub attempt: u32,
    pub of: u32,
    /// What it ended with.
    pub code: i32,
}

#[derive(Clone, Debug)]
pub struct Replace<'a> {
    /// Relative to where the step is; `~/` is the home directory.
    pub path: &'a str,
    /// Permission bits; none keeps those the file has, or the usual ones.
    pub mode: Option<u32>,
    pub append: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

impl Level {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Why a block does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A step failed: `catch` and `@retry` may deal with it.
    Failed(Box<Failure>),
    /// The block was asked to stop: only `finally` still runs.
    Stopped(Why),
    /// The record cannot be written: only `finally` still runs.
    Unrecorded,
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The path of the step.
    pub path: Box<str>,
    /// Its exit code; 124 if it timed out.
    pub code: i32,
    /// What opal itself has to say about it; none where the command said it. Holds no value.
    pub trouble: Option<Trouble>,
    /// Branches beside it that failed too, where all were waited for, in the order of the plan.
    pub beside: Vec<Failure>,
    /// How many more there were than are kept.
    pub more: usize,
    /// Whether a step was lost with the connection to its target, so that its outcome is unknown: this
    /// one, one beside it, or one that it tells of.
    pub has_lost: bool,
}

/// Failures that are kept beside the first.
pub const MAX_BESIDE: usize = 15;

impl Failure {
    #[must_use]
    pub fn new(path: Box<str>, code: i32, trouble: Option<Trouble>) -> Self {
        let has_lost = trouble.as_ref().is_some_and(|it| it.kind == TroubleKind::Lost);
        Self { path, code, trouble, beside: Vec::new(), more: 0, has_lost }
    }

    /// Adds one that comes after it in the plan.
    pub fn join(&mut self, mut other: Self) {
        let beside = std::mem::take(&mut other.beside);
        self.more += std::mem::take(&mut other.more);
        self.has_lost |= other.has_lost;
        for failure in std::iter::once(other).chain(beside) {
            if self.beside.len() < MAX_BESIDE {
                self.beside.push(failure);
            } else {
                self.more += 1;
            }
        }
    }
}

/// Why something is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A signal to opal: its number.
    Signal(i32),
    /// The time of a block around it is over.
    TimedOut,
    /// Another branch has failed.
    Cancelled,
}
