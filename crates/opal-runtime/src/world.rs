//! The outside world: files, environment, clock, randomness, processes, the network.
//!
//! | what | where |
//! |---|---|
//! | the machine this runs on | [`OsWorld`] |
//! | a world of plain data that remembers what it was asked, for tests and the editor | [`MemoryWorld`] |
//! | the part of it that value decorators get, which only looks | [`opal_core::resolver::Probe`] |
//!
//! Deliberately not here: anything that changes the world. Steps run in sessions of the executor,
//! and plan files, keys and records are written by the modules that own them.

mod memory;
mod os;
pub(crate) mod wiped;

pub use memory::{Asked, MemoryWorld};
pub use os::{Limits, OsWorld, Surroundings};

use opal_core::resolver::{Probe, Trouble};

/// All of the world that planning needs: what a [`Probe`] can look at, and randomness.
///
/// Randomness is not in `Probe`, so that no value decorator can draw any: what it gives must follow
/// from its inputs and the world, or, for a generator, from the seed of the contract.
pub trait World: Probe {
    /// Fills `bytes` with bytes that nobody can foresee.
    fn entropy(&self, bytes: &mut [u8]) -> Result<(), Trouble>;
}
