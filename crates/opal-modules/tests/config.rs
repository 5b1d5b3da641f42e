//! Configurations, through the public face of the crate.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "config/any_text.rs"]
mod any_text;
#[path = "config/reading.rs"]
mod reading;
#[path = "config/same_plan.rs"]
mod same_plan;
#[path = "config/schema.rs"]
mod schema;
#[path = "config/support.rs"]
mod support;
#[path = "config/validations.rs"]
mod validations;
