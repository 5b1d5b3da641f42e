//! Tests whose outcome depends on how fast the machine is: runs that are killed at arbitrary moments,
//! time limits that must pass after a step has started, and measured durations.
//!
//! The tests in `it` wait for facts and pass on a busy machine. These cannot, so they have a binary of
//! their own: `cargo test` leaves it out, and `cargo xtask test` runs it once, one test at a time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod chaos;
mod killed;
mod modules;
#[path = "../it/runs_of_modules/release.rs"]
#[expect(dead_code, reason = "some helpers are only used by the other binary")]
mod release;
#[path = "../it/support.rs"]
#[expect(dead_code, reason = "some helpers are only used by the other binary")]
mod support;
mod time_limits;

use opal_testing::needs;
