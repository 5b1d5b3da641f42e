//! Records that cannot be found or read.

use opal_ops::resume::NotResumed;
use opal_vault::record::reader::{Unclear, Unread, Unreadable};
use opal_vault::root::RootError;

use super::{Exit, Failure};

/// `runs` are the first words of a command about records.
pub(crate) fn unclear(name: &str, why: &Unclear, runs: &str) -> Failure {
    match why {
        Unclear::NoRuns => Failure::new(Exit::NoFile, "no runs yet", "run a task with `opal TASK`"),
        Unclear::Unknown => Failure::new(
            Exit::NoFile,
            format!("unknown run `{name}`"),
            format!("list the runs with `{runs} list`; `last` is the newest"),
        ),
        Unclear::Ambiguous(some, count) => {
            let some: Vec<String> = some.iter().map(|id| format!("`{id}`")).collect();
            Failure::usage(
                format!("`{name}` is ambiguous: it matches {count} runs"),
                format!("write a longer prefix: {}", some.join(", ")),
            )
        }
    }
}

pub(crate) fn unreadable(error: Unreadable) -> Failure {
    let exit = match error.why {
        Unread::Io(_) => Exit::NoFile,
        Unread::Malformed { .. } | Unread::TooLarge => Exit::Source,
    };
    Failure::new(exit, error.to_string(), error.help())
}

pub(crate) fn root_failure(error: RootError) -> Failure {
    let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::NoFile };
    Failure::new(exit, error.to_string(), error.help())
}

/// Why `--resume` continues nothing.
pub(crate) fn not_resumed(why: NotResumed, runs: &str) -> Failure {
    let message = why.to_string();
    match why {
        NotResumed::Root(error) => root_failure(error),
        NotResumed::Unclear { name, why } => unclear(&name, &why, runs),
        NotResumed::Unreadable(error) => unreadable(error),
        NotResumed::NoEarlierRun { .. } => Failure::usage(
            message,
            "run it without `--resume` first, or name a run of another directory with `--resume=RUN`",
        ),
        NotResumed::OtherContract(_) => Failure::usage(
            message,
            format!("name a run of this contract: `{runs} show` says which contract a run was of"),
        ),
        NotResumed::StillRunning(_) => {
            Failure::usage(message, format!("wait for it to end, or follow it with `{runs} tail`"))
        }
        NotResumed::NoFailedStep(_) => Failure::usage(message, "run it without `--resume`"),
        NotResumed::OtherPlan(_) => Failure::new(
            Exit::Refused,
            message,
            "the source, an argument or a decision has changed: run it without `--resume`",
        )
        .help("`--from PATH` starts at a step of the current plan"),
    }
}
