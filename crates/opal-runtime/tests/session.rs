//! Sessions on this machine, with real shells in directories of their own.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

#[path = "session/checking.rs"]
mod checking;
#[path = "session/commands.rs"]
mod commands;
#[path = "session/files.rs"]
mod files;
#[path = "session/hostile.rs"]
mod hostile;
#[path = "session/interpreters.rs"]
mod interpreters;
#[path = "session/many.rs"]
mod many;
#[path = "session/moving.rs"]
mod moving;
#[path = "session/payloads.rs"]
mod payloads;
#[path = "session/places.rs"]
mod places;
#[path = "session/stopping.rs"]
mod stopping;
#[path = "session/support.rs"]
mod support;
#[path = "session/terminal.rs"]
mod terminal;
#[path = "session/typing.rs"]
mod typing;
