#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]

mod conformance;
mod descriptors;
mod execute_conformance;
mod globs;
mod resource_conformance;
mod resources;
mod served;
mod values;
