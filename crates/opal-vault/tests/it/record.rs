//! Records from the outside: what is written, and that it can be read whatever happened.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod support;

mod crash;
mod hidden;
mod lines;
mod output;
mod retention;
mod taken_up;
mod trouble;
mod verifications;
mod writer;
