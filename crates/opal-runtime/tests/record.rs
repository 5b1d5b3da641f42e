//! Records from the outside: what is written, and that it can be read whatever happened.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "record/support.rs"]
mod support;

#[path = "record/crash.rs"]
mod crash;
#[path = "record/hidden.rs"]
mod hidden;
#[path = "record/lines.rs"]
mod lines;
#[path = "record/looks.rs"]
mod looks;
#[path = "support/needs.rs"]
mod needs;
#[path = "record/output.rs"]
mod output;
#[path = "record/retention.rs"]
mod retention;
#[path = "record/taken_up.rs"]
mod taken_up;
#[path = "record/trouble.rs"]
mod trouble;
#[path = "record/writer.rs"]
mod writer;
