//! The use cases: what opal does, without how it is asked for or shown.
//!
//! | what | where |
//! |---|---|
//! | a source that was read, and a target in it | [`source`], [`planning`] |
//! | making a contract | [`making`] |
//! | whether a contract may run, and every way in which it is refused | [`contract`] |
//! | which run is continued, and at which step | [`resume`] |
//! | verifying the resources of a plan | [`resources`] |
//! | who answers on the targets of a contract | [`targets`] |
//! | what an apply would change | [`preview`] |
//! | runs of modules, and modules in order | [`module`], [`blueprint`] |
//!
//! Deliberately not here: arguments, the environment, hints, exit codes, and everything that prints.
//! What is worth telling while something goes on is handed to the caller.

pub mod blueprint;
pub mod contract;
pub mod making;
pub mod module;
pub mod planning;
pub mod preview;
pub mod resources;
pub mod resume;
pub mod source;
pub mod targets;
