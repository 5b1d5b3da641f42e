//! Front ends that are no `.opl` text.
//!
//! | what | where |
//! |---|---|
//! | declarative configurations in YAML: reading, lowering, converting, their JSON Schema | [`config`] |
//! | modules: specs, profiles, blueprints, packs, inputs, drivers, evidence, state | [`module`] |
//!
//! A configuration and a run of a module end in the planner's input, a [`opal_runtime::unit::Unit`]: one
//! planner, one executor, one scrubber and one record serve all front ends. Deliberately not here: the
//! environment, planning and running; only [`module`] reads files, and what it writes is below its root.

pub mod config;
pub mod module;
