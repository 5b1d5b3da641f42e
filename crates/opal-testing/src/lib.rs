//! For tests: never shipped.
//!
//! | what | where |
//! |---|---|
//! | the laws that every decorator obeys, plugins included | [`conformance`] |
//! | a world of plain data that remembers what it was asked | [`MemoryWorld`], in `memory` |
//! | a session that only remembers what it was asked | [`LoggedSession`], in `logged` |
//! | a project to plan, and a plan that is run | [`planning`], [`running`] |
//! | what a test needs that not every machine has | [`needs`] |

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

pub mod conformance;
mod logged;
mod memory;
pub mod needs;
pub mod planning;
pub mod running;

pub use logged::{Answer, LoggedSession};
pub use memory::{Asked, MemoryWorld};
