//! Decorators that describe a state of the world.

pub(super) mod file_absent;
pub(super) mod file_copy;
pub(super) mod file_directory;
pub(super) mod file_line;
pub(super) mod file_symlink;
pub(super) mod file_template;
pub(super) mod git_repo;
pub(super) mod pkg_install;
pub(super) mod service_running;
pub(super) mod user_present;
