//! Front ends that are no `.opl` text.
//!
//! | what | where |
//! |---|---|
//! | declarative configurations in YAML: reading, lowering, converting, their JSON Schema | [`config`] |
//! | modules: specs, profiles, blueprints, packs, inputs | [`module`] |
//!
//! A configuration ends in the planner's input, a [`opal_runtime::unit::Unit`]: one planner, one
//! executor, one scrubber and one record serve all front ends. Modules are read and checked, not run
//! yet. Deliberately not here: the environment, planning and running; only [`module`] reads files.

pub mod config;
pub mod module;
