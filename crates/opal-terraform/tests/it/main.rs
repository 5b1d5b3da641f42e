//! Real providers, built by `cargo xtask providers`, and hostile ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accepted;
mod adopt;
mod calls;
mod cloud;
mod helper;
mod hostile;
mod liar;
mod packages;
mod processes;
mod promises;
mod resources;
mod rules;
mod steps;
mod support;
