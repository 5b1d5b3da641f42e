//! Why a step or a verification did not do what it should. All messages of this crate are here, each
//! with its kind and its hint; what a session or a decorator says comes from there.

mod fence;

use std::io::ErrorKind;

use opal_core::action::Limits;
use opal_core::message::{Message, Reason};
use opal_core::plan::Part;
use opal_core::resolver::{MAX_VALUE_BYTES, Trouble, TroubleKind};
use opal_core::resource::Status;
use opal_core::{Data, Duration, suggest};
use opal_vault::TooMany;

pub(crate) use fence::FenceError;

#[derive(Clone, Debug)]
pub(crate) enum StepError<'a> {
    /// Something that the planner or the preparation should have seen.
    Bug(Bug<'a>),
    /// A descriptor or a thread that the system does not give.
    NotConnected(ErrorKind),
    /// The next command of a pipe has closed its input.
    BrokenPipe,
    /// What is passed on in a pipe.
    PipeNotWritten(ErrorKind),
    /// What a redirection takes.
    OutputNotWritten(ErrorKind),
    /// What waits for its turn.
    OutputNotStored,
    OutputNotText,
    OutputTooLarge,
    /// More values were captured on targets than can be hidden there.
    TooManyTargetValues,
    ArgumentTooLong,
    /// The name of the variable.
    NulInVariable(&'a str),
    /// The limit, and the names of the steps that took too long.
    TimedOut {
        limit: Duration,
        late: Vec<&'a str>,
    },
    /// A process exceeded its CPU time.
    CpuTime(Limits),
    UnderLimits {
        code: i32,
        limits: Limits,
    },
    UnboundLet(&'a str),
    /// A part that the value of a binding does not have.
    Absent {
        part: &'a Part,
        data: &'a Data,
        base: &'a str,
        names: Names,
    },
    QuickPlan,
    /// The path of `--from`.
    UnknownStep(&'a str),
    /// What it depends on, with how each of them ended.
    DependencyFailed(&'a str),
    /// What it depends on, with the status of each, and what its own verification reports.
    DependencyMissing {
        unmet: &'a str,
        own: Option<Message>,
    },
    DependsOnItself(&'a str),
    NotReached {
        status: Status,
        found: &'a str,
    },
    VerificationStopped,
    VerificationTimedOut {
        limit: std::time::Duration,
        is_of_all: bool,
    },
    ReadOnly,
    /// More targets than `tolerate` allows.
    TargetsFailed {
        failed: usize,
        all: usize,
        tolerate: usize,
    },
    /// A file of opal's machine that did not get to the target, or got there broken.
    FileNotSent {
        path: &'a str,
        why: std::io::ErrorKind,
    },
    /// What a target says by a program, and how long it had for that.
    NotReady {
        program: String,
        code: Option<i32>,
        within: Duration,
    },
    /// A command that the shell of the target cannot read: the path of its step, and what it says.
    TargetSyntax {
        path: &'a str,
        line: u32,
        said: String,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bug<'a> {
    UnknownDecorator(&'a str),
    NoAction(&'a str),
    NoSink(&'a str),
    NotRunnable(&'a str),
    NoStream,
    LostOutput,
    BranchesWait,
    BranchPanicked,
    StepPanicked,
    DirectoryPanicked,
    VerificationPanicked,
    BlockedWithoutReason,
}

impl Bug<'_> {
    fn said(self) -> String {
        match self {
            Self::UnknownDecorator(path) => format!("unknown decorator `@{path}`"),
            Self::NoAction(path) => format!("`@{path}` has no action"),
            Self::NoSink(name) => format!("`@{name}` does not accept output"),
            Self::NotRunnable(node) => format!("`{node}` cannot be run"),
            Self::NoStream => "a redirection has no stream".into(),
            Self::LostOutput => "an output was lost".into(),
            Self::BranchesWait => "its branches wait for each other".into(),
            Self::BranchPanicked => "a branch panicked".into(),
            Self::StepPanicked => "the step panicked".into(),
            Self::DirectoryPanicked => "reading the directory panicked".into(),
            Self::VerificationPanicked => "the verification panicked".into(),
            Self::BlockedWithoutReason => "the verification reports blocked, but not why".into(),
        }
    }
}

/// Whether the names of fields may be said. What a program prints may be a map of secrets to what
/// they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Said,
    Hidden,
}

/// A name that is nearly the one in the source is said, since whoever wrote that knows it; others
/// only where everybody may see them; values never.
fn absent(part: &Part, data: &Data, base: &str, names: Names) -> (String, String) {
    let kind = || data.type_of().with_article();
    let itself = || "use the value itself".to_owned();
    match (part, data) {
        (Part::Field(field), Data::Map(fields)) => {
            let known = fields.keys().map(String::as_str);
            let help = match suggest::nearest(field, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if fields.is_empty() => "it has no fields at all".to_owned(),
                None if names == Names::Hidden => "its fields are not listed, because what a step \
                     prints is a secret; with `public=true` they are"
                    .to_owned(),
                None => format!("it has {}", opal_core::parameter::listed(known)),
            };
            (format!("FieldAccessError: `{base}` has no field `{field}`"), help)
        }
        (Part::Index(index), Data::Array(items)) => {
            let help = match items.len() {
                0 => "it is empty".to_owned(),
                1 => "it has one element, `[0]`".to_owned(),
                count => format!("it has {count} elements, from `[0]` to `[{}]`", count - 1),
            };
            (format!("IndexError: `{base}` has no element `[{index}]`"), help)
        }
        (_, Data::Null) => (
            format!("FieldAccessError: `{base}` is null and has no fields"),
            "the command printed `null` there, not a value".to_owned(),
        ),
        (Part::Field(field), _) => (
            format!("FieldAccessError: `{base}` is {} and has no field `{field}`", kind()),
            itself(),
        ),
        (Part::Index(index), _) => {
            (format!("IndexError: `{base}` is {} and has no element `[{index}]`", kind()), itself())
        }
        (Part::All, _) => {
            (format!("FieldAccessError: `{base}` is {} and has no elements", kind()), itself())
        }
    }
}

fn not_ready(program: &str, code: Option<i32>, within: Duration) -> Message {
    let how = code.map_or_else(|| "is not there".to_owned(), |code| format!("ends with {code}"));
    format!("it is not ready after {within}: `{program}` {how}").into()
}

impl StepError<'_> {
    const fn kind(&self) -> TroubleKind {
        match self {
            Self::TimedOut { .. }
            | Self::VerificationStopped
            | Self::VerificationTimedOut { .. }
            | Self::NotReady { .. } => TroubleKind::TimedOut,
            Self::OutputNotStored
            | Self::OutputTooLarge
            | Self::TooManyTargetValues
            | Self::ArgumentTooLong => TroubleKind::TooLarge,
            Self::OutputNotText => TroubleKind::NotText,
            Self::UnboundLet(_) | Self::Absent { .. } | Self::UnknownStep(_) => {
                TroubleKind::Missing
            }
            Self::NulInVariable(_)
            | Self::QuickPlan
            | Self::DependsOnItself(_)
            | Self::TargetSyntax { .. } => TroubleKind::Invalid,
            Self::ReadOnly => TroubleKind::Denied,
            _ => TroubleKind::Failed,
        }
    }

    fn message(&self) -> Message {
        match self {
            Self::Bug(bug) => bug.said().into(),
            Self::NotConnected(why) => {
                format!("the step cannot be connected: {}", Reason(*why)).into()
            }
            Self::BrokenPipe => "broken pipe: the next command closed its input".into(),
            Self::PipeNotWritten(why) => {
                format!("the output could not be written: {}", Reason(*why)).into()
            }
            Self::OutputNotWritten(why) => {
                format!("the output of the step could not be written: {}", Reason(*why)).into()
            }
            Self::OutputNotStored => {
                "the output of this step could not be stored while it waited for its turn".into()
            }
            Self::OutputNotText => "its output is not UTF-8 text, so it cannot be bound".into(),
            Self::TooManyTargetValues => TooMany.to_string().into(),
            Self::OutputTooLarge => {
                let most = MAX_VALUE_BYTES >> 20;
                format!("its output is larger than {most} MiB, the limit for a binding").into()
            }
            // The shell itself does not tell this from a program that may not be executed.
            Self::ArgumentTooLong => "a command was found, but could not be started (exit code \
                                      126): it is not executable, or an argument is too long"
                .into(),
            Self::NulInVariable(name) => {
                format!("`{name}` contains a NUL character, which no variable can").into()
            }
            Self::TimedOut { limit, late } => {
                format!("timed out after {limit}{}", blamed(late)).into()
            }
            Self::CpuTime(limit) => format!("a process exceeded its CPU time: `{limit}`").into(),
            Self::UnderLimits { code, limits } => {
                format!("a step failed with exit code {code} under `{limits}`").into()
            }
            Self::UnboundLet(name) => {
                format!("UnboundLetError: `@let.{name}` is not bound here").into()
            }
            Self::Absent { part, data, base, names } => absent(part, data, base, *names).0.into(),
            Self::QuickPlan => "a quick plan cannot be run".into(),
            Self::UnknownStep(path) => format!("the plan has no step `{path}`").into(),
            Self::DependencyFailed(unmet) | Self::DependencyMissing { unmet, .. } => {
                format!("dependencies not satisfied: {unmet}").into()
            }
            Self::DependsOnItself(name) => format!("`{name}` depends on itself").into(),
            Self::NotReached { status, found } => {
                let status = status.name();
                format!("it was applied, but verification still reports {status}: {found}").into()
            }
            Self::VerificationStopped => "the verification was stopped".into(),
            Self::VerificationTimedOut { limit, .. } => {
                let limit = i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX);
                format!("did not answer within {}", Duration::from_nanos(limit)).into()
            }
            Self::ReadOnly => "a verification cannot change anything".into(),
            Self::TargetsFailed { failed, all, tolerate } => {
                format!("{failed} of {all} targets failed (tolerate={tolerate})").into()
            }
            Self::FileNotSent { path, why } => {
                opal_core::message!("`", *path, "` could not be sent to the target: ", *why)
            }
            Self::NotReady { program, code, within } => not_ready(program, *code, *within),
            Self::TargetSyntax { path, line, said } => {
                let message = "the shell of the target cannot read line ";
                opal_core::message!(message, line.to_string(), " of `", *path, "`: ", said)
            }
        }
    }

    fn help(&self) -> Message {
        match self {
            Self::Bug(_) => "this is a bug in opal: please report it",
            Self::NotConnected(_) => {
                "close programs with many open files, or run fewer steps at a time"
            }
            Self::BrokenPipe => "make the next command read its whole input",
            Self::PipeNotWritten(_) => "check whether the disk is full",
            Self::OutputNotWritten(_) => "free some space, or choose another path",
            Self::OutputNotStored => {
                "free some space for temporary files, or set another directory with `TMPDIR`"
            }
            Self::OutputNotText => "encode it, for example with `| base64`, or write it to a file",
            Self::TooManyTargetValues => {
                "mark values that need not be hidden with `public=true`; see `opal explain E1508`"
            }
            Self::OutputTooLarge => "write it to a file, and bind the name of the file",
            Self::ArgumentTooLong => {
                "an argument or an environment variable can have at most 128 KiB: pass a longer \
                 value on standard input, or with a heredoc: `COMMAND <<EOF`"
            }
            Self::NulInVariable(_) => "remove it, or pass the data in a file",
            Self::TimedOut { .. } => "give it more time",
            Self::CpuTime(_) | Self::UnderLimits { .. } => "if the limit is too small, raise it",
            Self::UnboundLet(_) => "bind it in an earlier step of the block",
            Self::Absent { part, data, base, names } => {
                return absent(part, data, base, *names).1.into();
            }
            Self::QuickPlan => "plan again with every value resolved",
            Self::UnknownStep(_) => {
                "list the paths with `opal plan --json`; `step:N` counts the steps from 1"
            }
            Self::DependencyFailed(_) => "fix its dependencies first",
            Self::DependencyMissing { .. } => "apply what it depends on first",
            Self::DependsOnItself(_) => "remove one of the dependencies of the cycle",
            Self::NotReached { .. } => {
                "something else changes it, or the desired state cannot be reached"
            }
            Self::VerificationStopped => "verify again",
            // In an apply, `--timeout` is the time of the whole run.
            Self::VerificationTimedOut { is_of_all: true, .. } => {
                "give all of them more time with `--timeout`"
            }
            Self::VerificationTimedOut { .. } => "give it more time with `verify_timeout`",
            Self::ReadOnly => "run the plan",
            // The table says which, and the run how to resume it.
            Self::TargetsFailed { .. } => "",
            Self::FileNotSent { .. } => {
                "check that it is a file, and that there is space on both sides; run again"
            }
            Self::NotReady { .. } => "run the program there to see what it waits for",
            Self::TargetSyntax { .. } => {
                "fix the command, or use only what the shell of the target understands; nothing \
                 has run there"
            }
        }
        .into()
    }
}

/// `: `a` took too long`; nothing where it is the step itself.
fn blamed(late: &[&str]) -> String {
    const MOST: usize = 3;
    let names: Vec<String> = late.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    match late.len() {
        0 => String::new(),
        1..=MOST => format!(": {names} took too long"),
        count => format!(": {names} and {} more took too long", count - MOST),
    }
}

impl From<StepError<'_>> for Trouble {
    fn from(error: StepError<'_>) -> Self {
        let mut trouble = Self::new(error.kind(), error.message(), error.help());
        trouble.help.retain(|help| !help.is_empty());
        if let StepError::DependencyMissing { own: Some(own), .. } = error {
            trouble.help.push(opal_core::message!("verification reports: ", own));
        }
        trouble
    }
}
