//! The outside world: files, environment, clock, processes, the network.
//!
//! | what | where |
//! |---|---|
//! | the machine this runs on | [`OsWorld`] |
//! | what it is to planning and value decorators, which only look | [`opal_core::resolver::Probe`] |
//!
//! Deliberately not here: anything that changes the world. Steps run in sessions of the executor,
//! and plan files, keys and records are written by the modules that own them. Nor randomness: what
//! a value decorator gives must follow from its inputs and the world, or, for a generator, from a
//! seed, which `opal-trust` draws.

mod os;

pub use os::{Limits, OsWorld, Surroundings};
#[cfg(feature = "origin")]
pub(crate) use os::{Scene, files_at};
pub(crate) use os::{View, place};
