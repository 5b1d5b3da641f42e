//! Configurations, through the public face of the crate.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod any_text;
mod reading;
mod same_plan;
mod schema;
mod support;
mod validations;
