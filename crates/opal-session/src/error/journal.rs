//! The journal of an order on a target: why it cannot be used, and what that means for the target.

use std::io::ErrorKind;

use opal_core::journal::Broken;
use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::TroubleKind;

use super::said::Said;

#[derive(Debug)]
pub(crate) enum JournalError {
    /// What was asked for makes no sense.
    Invalid,
    /// Nobody there keeps one.
    NoHelper,
    /// Nobody has opened it.
    NotOpen,
    /// The user has no home directory.
    NoHome,
    /// A part of the way to it, or the file itself, could be somebody else's.
    Untrusted(String),
    /// It is on a file system that may not keep it, or that others share.
    FileSystem(String),
    /// Another session of the order has it.
    Held,
    /// Steps have begun here, and nothing says which.
    Absent {
        claim: u64,
    },
    /// Entries at its end are gone.
    Short {
        number: u64,
        claim: u64,
    },
    Broken(Broken),
    /// There are too many journals in the directory.
    TooMany(usize),
    TooLarge(u64),
    /// A path that cannot be written down.
    Path,
    System {
        done: &'static str,
        why: ErrorKind,
    },
}

/// Nobody knows which steps have run: a person has to look.
const LOOK: &str =
    "check what the order has done on the target, then make a new contract for the rest";

impl JournalError {
    pub(super) fn said(&self) -> Said {
        use TroubleKind::{Failed, Invalid, Lost};
        let (kind, message, help): (_, Message, &str) = match self {
            Self::Invalid => (
                Invalid,
                "the journal of an order cannot be opened: its name is invalid".into(),
                "this is a mistake in opal: report it",
            ),
            Self::NoHelper => (
                Failed,
                "the target has no helper, so it cannot keep the journal of an order".into(),
                "run the contract directly: `opal run --plan FILE`",
            ),
            Self::NotOpen => (
                Lost,
                "the journal of the order is not open on the target".into(),
                "this is a mistake in opal: report it",
            ),
            Self::NoHome => (
                Lost,
                "the target has no place for the journal of the order: the user has no home \
                 directory"
                    .into(),
                "run as a user with a home directory",
            ),
            Self::Untrusted(why) => (
                Lost,
                message!("the journal of the order cannot be trusted: ", why.as_str()),
                "make `~/.local/state/opal` a directory of this user alone, with mode 0700",
            ),
            Self::FileSystem(name) => (
                Lost,
                message!(
                    "the journal of the order would be on a file system of the kind `",
                    Words(name),
                    "`, which may lose or share it"
                ),
                "put `~/.local/state/opal` of this user on a local disk",
            ),
            Self::Held => (
                Lost,
                "another runner is still at work on the target for this order".into(),
                "wait until it has ended, then check what it has done on the target",
            ),
            Self::Absent { .. } | Self::Short { .. } | Self::Broken(_) => {
                (Lost, self.of_entries(), LOOK)
            }
            Self::TooMany(_) | Self::TooLarge(_) => {
                let (message, help) = self.of_limits();
                (Lost, message, help)
            }
            Self::Path => (
                Failed,
                "the path of the step cannot be written into the journal of the order".into(),
                "rename what the path is made of: it has control characters or is very long",
            ),
            Self::System { done, why } => (
                Lost,
                message!("the journal of the order cannot be ", Words(done), ": ", *why),
                "check the disk of the target, and `~/.local/state/opal` on it",
            ),
        };
        (kind, message, help.into())
    }

    /// What there is too much of.
    fn of_limits(&self) -> (Message, &'static str) {
        match self {
            Self::TooMany(most) => (
                message!(
                    "there are more than ",
                    Words(&most.to_string()),
                    " journals of orders on the target"
                ),
                "remove those that you do not need from `~/.local/state/opal`",
            ),
            Self::TooLarge(most) => (
                message!(
                    "the journal of the order is larger than ",
                    Words(&most.to_string()),
                    " bytes"
                ),
                "divide the contract into smaller ones",
            ),
            other => (other.of_entries(), LOOK),
        }
    }

    /// What is wrong with its entries.
    fn of_entries(&self) -> Message {
        let number = |number: &u64| number.to_string();
        match self {
            Self::Absent { claim } => message!(
                "the journal of the order is missing on the target, but it has had ",
                Words(&number(claim)),
                " entries"
            ),
            Self::Short { number: last, claim } => message!(
                "the journal of the order ends at entry ",
                Words(&number(last)),
                " on the target, but it has had ",
                Words(&number(claim))
            ),
            Self::Broken(broken) => {
                let (at, what) = match broken {
                    Broken::Changed(at) => (at, " is not what opal has written there"),
                    Broken::Gap(at) => (at, " is missing"),
                };
                message!(
                    "the journal of the order has been changed on the target: entry ",
                    Words(&number(at)),
                    Words(what)
                )
            }
            _ => Message::default(),
        }
    }
}
