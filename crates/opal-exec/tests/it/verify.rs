//! Verifying the resources of a plan: which, when, and what is reported about them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod order;
mod places;
mod targets;
pub(crate) mod things;
mod trouble;
mod verifying;
