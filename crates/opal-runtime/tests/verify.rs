//! Looking at the resources of a plan: which are looked at, when, and what is said about them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod planning;

#[path = "verify/looking.rs"]
mod looking;
#[path = "verify/order.rs"]
mod order;
#[path = "verify/places.rs"]
mod places;
#[path = "verify/things.rs"]
mod things;
#[path = "verify/trouble.rs"]
mod trouble;
