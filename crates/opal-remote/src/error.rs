//! Why a target did not do something. All messages of this crate are here.

use opal_core::message;
use opal_core::message::Words;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_session::wire::frame::Loss;

#[derive(Clone, Debug)]
pub(crate) enum RemoteError<'a> {
    /// There was a connection.
    Lost {
        target: &'a str,
        loss: Loss,
    },
    /// There never was one.
    NoHelper {
        target: &'a str,
        loss: Loss,
    },
    /// The helper cannot be started on this machine.
    NotStarted {
        target: &'a str,
        why: std::io::ErrorKind,
    },
    /// A session that only reads was asked to act.
    OnlyReads {
        target: &'a str,
    },
    TooLarge,
    /// A block without a target.
    NoWay,
    /// Another machine or user answers than before.
    OtherMachine {
        target: &'a str,
    },
    /// Another machine or user answers than when the contract was made.
    Changed {
        target: &'a str,
        words: &'a [String],
    },
}

impl From<RemoteError<'_>> for Trouble {
    fn from(error: RemoteError<'_>) -> Self {
        match error {
            RemoteError::Lost { target, loss } => Self::new(
                TroubleKind::Lost,
                message!("the connection to `", target, "` was lost: ", Words(&loss.to_string())),
                "check the target before you run again: what the step has done is not known",
            ),
            RemoteError::NoHelper { target, loss } => Self::new(
                TroubleKind::Unreachable,
                message!(
                    "the helper on `",
                    target,
                    "` does not answer: ",
                    Words(&loss.to_string())
                ),
                "check that the target is reachable, and that this user may run programs there",
            ),
            RemoteError::NotStarted { target, why } => Self::new(
                TroubleKind::Unreachable,
                message!("the helper for `", target, "` cannot be started: ", why),
                "check that the program exists and is executable",
            ),
            RemoteError::OnlyReads { target } => Self::new(
                TroubleKind::Denied,
                message!("the connection to `", target, "` only reads"),
                "this is a mistake in opal: report it",
            ),
            RemoteError::Changed { target, words } => Self::new(
                TroubleKind::Mutated,
                message!("infra_mutated:", target, ": ", Words(&words.join("; "))),
                message!("if `", target, "` was reinstalled, make a new contract"),
            ),
            RemoteError::OtherMachine { target } => Self::new(
                TroubleKind::Mutated,
                message!(
                    "infra_mutated:",
                    target,
                    ": another machine or user answers than at the first connection of this run"
                ),
                "nothing was sent to it; check whether its address belongs to several machines",
            ),
            RemoteError::NoWay => Self::new(
                TroubleKind::Invalid,
                "the block has no target",
                "this is a bug in opal: please report it",
            ),
            RemoteError::TooLarge => Self::new(
                TroubleKind::TooLarge,
                "a command with its values is larger than 64 MiB",
                "pass large values in a file",
            ),
        }
    }
}
