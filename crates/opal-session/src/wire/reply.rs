//! Replies, and the order to stop.

use std::path::PathBuf;
use std::time::Duration;

use opal_core::Secret;
use opal_core::action::Why;
use opal_core::files;
use opal_core::hash::Digest;
use opal_core::journal::{Entry, What};
use opal_core::resolver::{Answer, Trouble};
use opal_core::shell::Shell;
use opal_core::shell::syntax::Fault;
use opal_core::tree::Found;

use super::codec::{choice, record};
use super::facts::Names;
use crate::Ended;

#[derive(Clone, Debug)]
pub enum Reply {
    /// It was not done.
    Trouble {
        trouble: Trouble,
    },
    /// It was done, or it has begun where there is a stream.
    Done,
    Text {
        text: Option<Secret>,
    },
    Path {
        path: PathBuf,
    },
    Entry {
        entry: Option<files::Entry>,
    },
    Names {
        names: Names,
    },
    Answer {
        answer: Answer,
    },
    Faults {
        faults: Vec<Fault>,
    },
    Flag {
        flag: bool,
    },
    Ended {
        ended: Ended,
    },
    Shell {
        shell: Option<Shell>,
    },
    Digest {
        digest: Digest,
    },
    Parts {
        found: Vec<Option<Found>>,
    },
    /// All entries of the journal of an order.
    Journal {
        /// Of the processes of this session, as its entries have it.
        marker: String,
        entries: Vec<Entry>,
    },
    /// The number of an entry, which is on the disk.
    Noted {
        number: u64,
    },
}

choice!(Reply, "reply" {
    0 => Trouble { trouble },
    1 => Done {},
    2 => Text { text },
    3 => Path { path },
    4 => Entry { entry },
    5 => Names { names },
    6 => Answer { answer },
    7 => Faults { faults },
    8 => Flag { flag },
    9 => Ended { ended },
    10 => Shell { shell },
    11 => Digest { digest },
    12 => Parts { found },
    13 => Journal { marker, entries },
    14 => Noted { number },
});

record!(Entry { number, path, what });
choice!(What, "entry" { 0 => Begun { marker }, 1 => Ended { code } });

/// What a request that runs has to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halting {
    End { why: Why, grace: Duration },
    Kill,
}

choice!(Halting, "order" { 0 => End { why, grace }, 1 => Kill {} });
