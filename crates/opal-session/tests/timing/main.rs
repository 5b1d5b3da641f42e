//! Commands that are stopped at arbitrary moments, and waits that have a limit.
//!
//! Which moments are hit depends on how fast the machine is, so these tests have a binary of their
//! own: `cargo test` leaves it out, and `cargo xtask test` runs it once, one test at a time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod half_open;
#[path = "../it/served.rs"]
mod served;
mod session;
mod stopped_anywhere;
