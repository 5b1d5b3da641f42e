//! Front ends that are no `.opl` text.
//!
//! | what | where |
//! |---|---|
//! | declarative configurations in YAML: reading, lowering, converting, their JSON Schema | [`config`] |
//!
//! Everything here ends in the planner's input, a [`opal_runtime::unit::Unit`]: one planner, one
//! executor, one scrubber and one record serve all front ends. Deliberately not here: files, the
//! environment, planning and running.

pub mod config;
