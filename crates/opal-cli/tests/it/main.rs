//! The binary from the outside, one file a command.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod apply;
mod bad_input;
mod check;
mod classes;
mod command_line;
mod completions;
mod configs;
mod configs_program;
mod contract;
mod convert;
mod documents;
mod drift;
mod ends;
mod env_file;
mod explain;
mod files;
mod fmt;
mod formats;
mod help;
mod hints;
mod hostile;
mod infra;
mod keys;
mod laws;
mod list;
mod module;
#[path = "../../../opal-runtime/tests/support/needs.rs"]
mod needs;
mod plan;
mod planned_twice;
mod project;
mod refusals;
mod run;
mod run_view;
mod runs;
mod runs_of_modules;
mod secrets;
mod shell_syntax;
mod shell_text;
mod structured;
mod support;
mod tree;
mod trust;
mod verify;
