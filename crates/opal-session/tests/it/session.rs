//! Sessions on this machine, with real shells in directories of their own.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod checking;
mod commands;
mod files;
mod hostile;
mod interpreters;
mod many;
mod moving;
pub(crate) mod payloads;
mod places;
mod seat;
mod stopping;
mod support;
mod terminal;
mod texts;
mod typing;
mod words;
