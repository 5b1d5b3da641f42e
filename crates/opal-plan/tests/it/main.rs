#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]

mod determinism;
mod guessing;
mod laziness;
mod lowering;
mod plan;
mod plan_errors;
mod plan_hash;
mod plan_review;
mod plugins;
mod secrets;
mod settings;
mod soup;
