//! Runs of modules.

pub mod arguments;
mod complete;
mod judge;
mod keeping;
pub mod order;

pub use complete::{Complete, Completion, Incomplete, complete, messages, unreported_warnings};
pub use keeping::{Keeping, KeptEnd, NotBegun, Setup};
