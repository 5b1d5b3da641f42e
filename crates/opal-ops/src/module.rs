//! Runs of modules.

pub mod arguments;
mod complete;
mod judge;
mod keeping;
pub mod order;

pub use complete::Complete;
pub use keeping::{Keeping, KeptEnd, NotBegun, Setup};
