//! Resources for real: in temporary directories, through a session on this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod absent;
mod command;
mod copy;
mod diff;
mod directory;
mod files;
mod line;
mod package;
mod races;
mod repo;
mod service;
mod support;
mod symlink;
mod template;
mod user;
