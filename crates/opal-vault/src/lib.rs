//! What may be seen of a run, and what is kept of it.
//!
//! | what | where |
//! |---|---|
//! | every value that must not be seen, and the scrubber | [`Vault`], in `vault` |
//! | the record and the people that a run reports to | [`witness`] |
//! | what is kept of a run, and reading it | [`record`] |
//! | the directory that opal keeps its own files in | [`root`] |
//! | which contracts were used | [`ledger`] |
//!
//! Deliberately not here: keys, policies, and who runs anything.

pub mod ledger;
pub mod record;
pub mod root;
mod vault;
pub mod witness;

pub use vault::*;
