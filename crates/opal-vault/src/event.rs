//! What happens in a run, and how it ends. Every text in it is a [`Shown`].

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opal_core::action::{Level, ObjectNews};
use opal_core::resource;

use crate::Shown;
use crate::targets::TargetRow;
use crate::verification::ShownDetails;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    pub at: SystemTime,
    /// The target that it happened on; none on opal's machine.
    pub target: Option<Arc<str>>,
    /// Where it is shown once for several targets.
    pub alike: Option<Alike>,
    pub kind: Kind<'a>,
}

/// Targets on which a step printed the same and ended in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// In the order of the plan.
    pub names: Arc<[Arc<str>]>,
    /// False where the event of another of these targets is shown.
    pub is_shown: bool,
}

/// Why a step is skipped that `--only` or `--skip` leaves out.
pub const NOT_SELECTED: &str = "not selected";

/// Why the steps of a block are skipped that has nothing to do.
pub const UNCHANGED: &str = "unchanged";

#[derive(Clone, Debug, PartialEq)]
pub enum Kind<'a> {
    /// Written before the step does anything.
    Started(Started<'a>),
    Finished(Finished<'a>),
    /// A step that does not run: it precedes the one that a run was started from, or, where there
    /// is something to say about it, it was not selected or what it depends on has failed.
    Skipped {
        path: &'a str,
        decorator: &'a str,
        why: Option<Shown<'a>>,
    },
    /// An attempt failed, and there will be another after the pause.
    Retrying {
        path: &'a str,
        attempt: u32,
        of: u32,
        code: i32,
        pause: Duration,
    },
    /// Something deals with the failure of a step: a `catch`, or what comes after `||` or `;`.
    Caught {
        path: &'a str,
        code: i32,
        /// The step inside of it that was stopped, where it timed out.
        late: Option<LateStep>,
    },
    Log {
        path: &'a str,
        level: Level,
        message: Shown<'a>,
    },
    /// A decorator of a package opened something that it has to close.
    Opened {
        path: &'a str,
        object: Opened,
    },
    /// It closed it.
    Closed {
        path: &'a str,
        id: Box<str>,
    },
    /// Which object of the world a decorator of a package acts on.
    Object {
        path: &'a str,
        plugin: Box<str>,
        version: Box<str>,
        of: Option<Box<str>>,
        identity: Option<Shown<'a>>,
        news: ObjectNews,
    },
    /// The run was asked to stop, and `finally` blocks run: why, in words.
    CleaningUp {
        why: &'a str,
    },
    /// The verification of a resource: right before its action, after it, or at the end of the run.
    Verified {
        path: &'a str,
        status: resource::Status,
        message: Shown<'a>,
        details: Option<ShownDetails>,
    },
    /// At the end of a run, what a step had described is no longer so: it has failed after all.
    Undone {
        path: &'a str,
        was: End,
        message: Shown<'a>,
    },
    /// A fleet begins on these targets, in the order of the plan.
    Fleet {
        path: &'a str,
        names: Vec<Arc<str>>,
    },
    /// A target of the fleet at this path has ended.
    TargetEnded {
        path: &'a str,
        row: TargetRow,
    },
    /// How the targets of a fleet ended, in the order of the plan.
    Targets {
        path: &'a str,
        rows: Vec<TargetRow>,
    },
    /// In parallel from here on, to the event of the same path that finishes it.
    Branches {
        path: &'a str,
        count: usize,
        most: usize,
    },
}

impl<'a> Kind<'a> {
    /// The path of the step that it is about.
    #[must_use]
    pub const fn path(&self) -> Option<&'a str> {
        match self {
            Self::Started(Started { path, .. })
            | Self::Finished(Finished { path, .. })
            | Self::Skipped { path, .. }
            | Self::Retrying { path, .. }
            | Self::Caught { path, .. }
            | Self::Log { path, .. }
            | Self::Opened { path, .. }
            | Self::Closed { path, .. }
            | Self::Object { path, .. }
            | Self::Verified { path, .. }
            | Self::Undone { path, .. }
            | Self::Fleet { path, .. }
            | Self::TargetEnded { path, .. }
            | Self::Targets { path, .. }
            | Self::Branches { path, .. } => Some(path),
            Self::CleaningUp { .. } => None,
        }
    }
}

/// What a decorator of a package opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    pub id: Box<str>,
    pub plugin: Box<str>,
    pub version: Box<str>,
    pub decorator: Box<str>,
    pub token: Shown<'static>,
    /// Whether this machine keeps what closing needs.
    pub is_kept: bool,
    /// The target that it was opened on; none on opal's machine.
    pub target: Option<Box<str>>,
}

impl Opened {
    /// As messages name it: `@guest.wrap` of acme/guest 1.2.3: a token.
    #[must_use]
    pub fn named(&self) -> String {
        let Self { plugin, version, decorator, token, .. } = self;
        let token: String = token.text().chars().take(MAX_TOKEN_SHOWN).collect();
        format!("`@{decorator}` of {plugin} {version}: {token}")
    }
}

/// Characters of a token that a line shows.
const MAX_TOKEN_SHOWN: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub struct Started<'a> {
    /// Counts the starts of a run, from 1: the name of this one.
    pub number: u64,
    pub path: &'a str,
    pub decorator: &'a str,
    /// Of the nearest `@retry` around it, from 1.
    pub attempt: u32,
    /// The step as the plan shows it.
    pub text: Shown<'a>,
    /// It has steps inside, and no output of its own.
    pub is_block: bool,
    /// It says itself what it does.
    pub speaks: bool,
    /// The parallel branch whose lines carry its name; none where output is not prefixed.
    pub branch: Option<Branch>,
}

/// A parallel branch that is shown live, beside others.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Has been through the scrubber.
    pub name: Shown<'static>,
    /// Among the branches of its block, from 0.
    pub index: usize,
    /// Columns of the longest name of the block.
    pub columns: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finished<'a> {
    pub number: u64,
    pub path: &'a str,
    pub decorator: &'a str,
    pub attempt: u32,
    pub took: Duration,
    pub code: i32,
    pub end: End,
    pub is_block: bool,
    /// It failed with the failure of another step.
    pub passes_on: bool,
    /// Whether it timed out by its own limit, and not by that of something around it.
    pub is_own_limit: bool,
    /// The step inside of it that was stopped by that limit.
    pub late: Option<LateStep>,
    /// What opal itself has to say about a failure.
    pub message: Option<Shown<'a>>,
}

/// A step that was stopped by the time limit of a block around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateStep {
    /// Of its start.
    pub number: Option<u64>,
    pub path: Box<str>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    /// What it describes was there already: nothing was done.
    Satisfied,
    Failed,
    TimedOut,
    /// The run, or the branch it is in, was asked to stop.
    Stopped,
}

impl End {
    /// It did what it is for.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Done | Self::Satisfied)
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Satisfied => "satisfied",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Stopped => "stopped",
        }
    }
}

/// What the steps of a run came to. Each step counts once, however often it was tried; blocks do not
/// count. The terminal, `--json` and the record all get this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub done: u64,
    /// What they describe was there already.
    pub satisfied: u64,
    /// Steps that timed out included.
    pub failed: u64,
    /// Failed, and something dealt with it: the run went on.
    pub caught: u64,
    /// Asked to stop.
    pub stopped: u64,
    pub skipped: u64,
    /// Attempts of `@retry` that failed and were tried again.
    pub retries: u64,
}

impl Counts {
    /// With the names that JSON has for them, sorted.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("caught", self.caught),
            ("done", self.done),
            ("failed", self.failed),
            ("retries", self.retries),
            ("satisfied", self.satisfied),
            ("skipped", self.skipped),
            ("stopped", self.stopped),
        ]
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        let Self { done, satisfied, failed, caught, stopped, skipped, retries } = other;
        self.done += done;
        self.satisfied += satisfied;
        self.failed += failed;
        self.caught += caught;
        self.stopped += stopped;
        self.skipped += skipped;
        self.retries += retries;
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Executed,
    Failed,
    /// A contract ran although values differed.
    Drifted,
    /// A contract did not run.
    Refused,
    Interrupted,
    /// Nobody wrote how it ended.
    Crashed,
}

impl Status {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::Drifted => "drifted",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
            Self::Crashed => "crashed",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Executed,
            Self::Failed,
            Self::Drifted,
            Self::Refused,
            Self::Interrupted,
            Self::Crashed,
        ];
        all.into_iter().find(|status| status.name() == name)
    }
}
