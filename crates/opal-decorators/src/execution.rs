//! Decorators that act at run time.

pub(super) mod as_user;
pub(super) mod cmd;
pub(super) mod confirm;
pub(super) mod container_exec;
mod crossings;
pub(super) mod environ;
pub(super) mod fail;
pub(super) mod file_write;
pub(super) mod limits;
pub(super) mod log;
pub(super) mod mysql;
pub(super) mod needs;
pub(super) mod parallel;
pub(super) mod print;
pub(super) mod psql;
pub(super) mod rethrow;
pub(super) mod retry;
pub(super) mod script;
pub(super) mod shell;
mod sql;
pub(super) mod sqlite;
pub(super) mod ssh_host;
pub(super) mod ssh_hosts;
pub(super) mod timeout;
pub(super) mod to_display;
pub(super) mod workdir;
