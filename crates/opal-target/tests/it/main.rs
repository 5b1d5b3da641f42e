//! A real helper, at the other end of two pipes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod served;
mod session;
