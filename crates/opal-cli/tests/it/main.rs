//! The binary from the outside, one file a command.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod bad_input;
mod check;
mod completions;
mod documents;
mod explain;
mod fmt;
mod help;
mod keys;
mod laws;
mod list;
mod run;
mod support;
