//! Resources for real: in temporary directories, through a session on this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod planning;

#[path = "resources/absent.rs"]
mod absent;
#[path = "resources/command.rs"]
mod command;
#[path = "resources/copy.rs"]
mod copy;
#[path = "resources/diff.rs"]
mod diff;
#[path = "resources/directory.rs"]
mod directory;
#[path = "resources/files.rs"]
mod files;
#[path = "resources/line.rs"]
mod line;
#[path = "support/needs.rs"]
mod needs;
#[path = "resources/package.rs"]
mod package;
#[path = "resources/races.rs"]
mod races;
#[path = "resources/repo.rs"]
mod repo;
#[allow(dead_code, reason = "the suite of the executor uses all of it")]
#[path = "execute/running.rs"]
mod running;
#[path = "resources/service.rs"]
mod service;
#[path = "resources/support.rs"]
mod support;
#[path = "resources/symlink.rs"]
mod symlink;
#[path = "resources/template.rs"]
mod template;
#[path = "resources/user.rs"]
mod user;
