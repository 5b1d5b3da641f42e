//! A run of a module: from its spec to a plan, and what is left of it afterwards.
//!
//! ```text
//! spec, profile, pack, inputs, credentials ──prepare──▶ Prepared ──lower──▶ unit ──▶ planner, executor
//!                                                                       evidence ◀──┘
//! outputs of the tools ──finish──▶ driver_result.json, state
//! ```
//!
//! | what | where |
//! |---|---|
//! | what can be done | `command` |
//! | what a driver is, and the built-in ones | [`driver`], [`drivers`], their laws in [`conformance`] |
//! | the files of a pack: digest and copy | [`pack`] |
//! | which inputs are secret | `secrets` |
//! | everything that is known before a plan is made | [`prepare`], [`Prepared`] |
//! | a run that has a name and a place | [`Run`] |
//! | whether a run can begin | [`preflight`], what its tools say in `versions` |
//! | what its tools do not take over from where opal was started | `surroundings` |
//! | what workspaces are called | `workspace` |
//! | what is checked after its tools | `probes` |
//! | the hooks that run after its tools | `hooks` |
//! | what a run has in clear, and for how long | `in_clear` |
//! | the program of a run | [`lower`], its decorators in [`decorators`] |
//! | outputs, results, states | [`finish`] |
//!
//! There is no executor and no scrubber here: a run is a plan like any other.

mod active;
mod command;
pub mod conformance;
pub mod decorators;
pub mod driver;
pub mod drivers;
pub mod finish;
mod hooks;
mod in_clear;
mod lower;
pub mod pack;
pub mod preflight;
pub mod prepare;
mod prepared;
mod probes;
mod secrets;
mod surroundings;
mod versions;
mod workspace;

pub use super::programs::Programs;
pub use active::Run;
pub use command::Command;
pub use driver::{Driver, Outputs, Place, Request, Setting, Tool, Work};
pub use hooks::HookStep;
pub use lower::lower;
pub use prepare::{Wanted, prepare};
pub use prepared::{Prepared, Unprepared};
pub use probes::{ProbeStep, UNMET};
