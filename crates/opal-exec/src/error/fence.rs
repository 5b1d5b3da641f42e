//! Why a step of an order cannot go on where another runner has begun.

use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::{Trouble, TroubleKind};

#[derive(Clone, Copy, Debug)]
pub(crate) enum FenceError<'a> {
    /// It was begun, and nobody knows whether it has ended.
    Unfinished {
        path: &'a str,
    },
    /// It needs the value `name`, which the step `by` would have bound.
    LetOfEnded {
        path: &'a str,
        name: &'a str,
        by: &'a str,
    },
    /// It needs the directory that the step `by` may have gone to.
    DirectoryOfEnded {
        path: &'a str,
        by: &'a str,
    },
    FailedBefore {
        code: i32,
    },
    /// The journal has entries of somebody else since it was last read.
    TakenOver,
    /// It belongs to a `try` whose `finally` has run.
    AfterCleanup {
        path: &'a str,
        by: &'a str,
    },
}

/// A person has to look.
const LOOK: &str = "check the target, then make a new contract for what is left to do";

impl FenceError<'_> {
    fn message(self) -> Message {
        match self {
            Self::Unfinished { path } => message!(
                "`",
                Words(path),
                "` has begun, and its runner was lost before it ended: its outcome is unknown"
            ),
            Self::LetOfEnded { path, name, by } => message!(
                "`",
                Words(path),
                "` needs `@let.",
                Words(name),
                "` of `",
                Words(by),
                "`, which another runner has run: the value is not kept"
            ),
            Self::DirectoryOfEnded { path, by } => message!(
                "`",
                Words(path),
                "` needs the directory after `",
                Words(by),
                "`, which another runner has run: the directory is not kept"
            ),
            Self::AfterCleanup { path, by } => message!(
                "`",
                Words(path),
                "` has not run, and `",
                Words(by),
                "` has cleaned up already, under a runner that was stopped"
            ),
            Self::TakenOver => {
                "another runner has gone on with the target while its connection to this one was \
                 lost"
                    .into()
            }
            Self::FailedBefore { code } => message!(
                "it failed with ",
                Words(&code.to_string()),
                " under another runner of this order"
            ),
        }
    }
}

impl From<FenceError<'_>> for Trouble {
    fn from(error: FenceError<'_>) -> Self {
        let (kind, help) = match error {
            FenceError::FailedBefore { .. } => {
                (TroubleKind::Failed, "its output is in the events of that runner")
            }
            _ => (TroubleKind::Lost, LOOK),
        };
        Self::new(kind, error.message(), help)
    }
}
