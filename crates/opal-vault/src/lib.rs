//! What may be seen of a run, and what is kept of it.
//!
//! | what | where |
//! |---|---|
//! | every value that must not be seen, and the scrubber | [`Vault`], in `vault` |
//! | text that may be seen: nobody else makes it | [`Shown`], in `shown` |
//! | JSON documents with parts that came from the world | [`Vault::json`], in `document` |
//! | what happens in a run, and what is found by `verify` | [`event`], [`verification`] |
//! | how the targets of fleets ended | [`targets`] |
//! | the record and the people that a run reports to | [`witness`]; output that waits, in [`hold`] |
//! | equal outputs of the targets of a fleet, shown once | [`fold`] |
//! | what is kept of a run, and reading it | [`record`] |
//! | the directory that opal keeps its own files in | [`root`] |
//! | why any of these cannot be read or written, in words | `error` |
//! | what is remembered of blocks that ran | [`entries`] |
//! | which contracts were used | [`ledger`] |
//! | the ids of a run's trace, and of its spans | [`trace`] |
//!
//! Deliberately not here: keys, policies, and who runs anything.

mod document;
pub mod entries;
mod error;
pub mod event;
pub mod fold;
pub mod hold;
pub mod ledger;
pub mod record;
pub mod root;
mod shown;
pub mod targets;
pub mod trace;
mod vault;
pub mod verification;
pub mod witness;

pub use document::{HiddenLeaf, below};
pub use shown::{Escapes, Piece, Sequences, Shown};
pub use vault::*;
