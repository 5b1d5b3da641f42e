//! One file a command.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod help;
pub(crate) mod list;
pub(crate) mod task;
