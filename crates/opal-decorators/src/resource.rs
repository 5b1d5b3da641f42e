//! Decorators that describe a state of the world.

pub(super) mod cached;
mod content;
pub(crate) mod diff;
pub(super) mod file_absent;
pub(super) mod file_copy;
pub(super) mod file_directory;
pub(super) mod file_fetch;
pub(super) mod file_line;
pub(super) mod file_symlink;
pub(super) mod file_template;
pub(super) mod git_repo;
mod links;
mod owners;
mod paths;
pub(super) mod pkg_install;
mod programs;
mod properties;
mod removal;
pub(super) mod service_running;
mod sides;
pub(super) mod user_present;
mod ways;
mod written;
