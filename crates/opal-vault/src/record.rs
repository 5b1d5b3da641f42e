//! What is kept of a run: its plan, what happened and when, what its steps printed, how it ended.
//!
//! | what | where |
//! |---|---|
//! | the name of a run | [`RunId`], in `id` |
//! | what a record says about the run itself | [`Header`], [`Ending`], in `header` |
//! | what of it a vault hides | `hide` |
//! | an event as a line of JSON | `line` |
//! | writing a record | [`Writer`], in `writer`; the output of a step in `output` |
//! | hiding secrets that a run captured later | [`Writer::finish`], in `rescrub` |
//! | a contract that was refused | [`refused`] |
//! | what shows that such records are whole, and all there | `chain` |
//! | the same lines for another program | [`Lines`], in `lines` |
//! | how many records stay | [`retention`] |
//! | what stays of those that are removed | [`pruned`] |
//! | reading records | [`reader`] |
//!
//! A record is a directory `logs/run/TARGET/RUN` under the runtime root, the owner's alone. It
//! appears with its plan and its first event in it, and can be read at every moment, whenever the
//! process that writes it is killed. As long as that process lives, it holds a lock on
//! `events.jsonl`: who has no summary and no lock has crashed.
//!
//! Deliberately not here: the clock, randomness and secrets. Callers say what time it is and bring
//! the random part of a name; texts come as [`Shown`].

pub mod audit;
mod chain;
mod contract;
mod header;
mod hide;
mod id;
mod line;
mod lines;
mod output;
pub mod pruned;
pub mod reader;
mod rescrub;
pub mod retention;
mod ring;
mod writer;

use crate::Shown;
use crate::event::Event;
use opal_core::stream::Stream;

use crate::witness::{Recorder, Unrecorded};

pub use contract::{Approved, Contract};
pub use header::{Drifted, Ending, Failed, Header, Reason, Refusal, Source, target_rows};
pub use id::RunId;
pub use lines::Lines;
pub use output::whole;
pub use reader::failed_path;
pub use writer::{Unwritten, Writer, refused};

/// Under the runtime root.
const LOGS: &str = "logs";
const FOLDER: &str = "logs/run";
const PLAN: &str = "plan.json";
const EVENTS: &str = "events.jsonl";
const SUMMARY: &str = "summary.json";
/// How the targets of fleets ended; only where there is a fleet.
const TARGETS: &str = "targets.json";
/// Is there in the record of a contract, which no number of runs removes.
const CONTRACT: &str = "contract";

/// A file in the folder of a round of `opal watch`.
const ROUND: &str = "round";
/// A directory or file that is being made begins with it.
const UNFINISHED: &str = ".new-";

/// Keeps nothing: `--no-record`.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Recorder for Silent {
    fn event(&self, _: &Event<'_>) -> Result<(), Unrecorded> {
        Ok(())
    }

    fn output(&self, _: u64, _: Stream, _: &Shown<'_>) -> Result<(), Unrecorded> {
        Ok(())
    }
}
