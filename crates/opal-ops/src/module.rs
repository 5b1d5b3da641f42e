//! Runs of modules.

pub mod arguments;
mod complete;

pub use complete::Complete;
