//! The use cases: what opal does, without how it is asked for or shown.
//!
//! | what | where |
//! |---|---|
//! | a source that was read, and a target in it | [`source`], [`planning`] |
//! | whether a contract may run, and every way in which it is refused | [`contract`] |
//! | verifying the resources of a plan | [`resources`] |
//!
//! Deliberately not here: arguments, the environment, hints, exit codes, and everything that prints.
//! What is worth telling while something goes on is handed to the caller.

pub mod contract;
pub mod planning;
pub mod resources;
pub mod source;
