//! Looking at the resources of a plan: which are looked at, when, and what is said about them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod looking;
mod order;
mod places;
pub(crate) mod things;
mod trouble;
