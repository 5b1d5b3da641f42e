//! One file a command, and what commands share.

pub(crate) mod adopt;
pub(crate) mod apply;
pub(crate) mod blueprint;
pub(crate) mod check;
pub(crate) mod command_line;
pub(crate) mod completions;
mod config_file;
pub(crate) mod convert;
pub(crate) mod doc;
pub(crate) mod execute;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod module;
pub(crate) mod of_projects;
pub(crate) mod pick;
pub(crate) mod plan;
pub(crate) mod plugin;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod task;
pub(crate) mod verify;
pub(crate) mod watch;
