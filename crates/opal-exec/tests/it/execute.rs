//! The order of effects: plans are run against a session that only writes a log, and the log, the
//! record and what the audience saw are compared.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod blocks;
mod branches;
mod chains;
mod from;
mod lets;
mod orders;
mod real;
mod records;
mod redirects;
mod resources;
mod surveyed;
mod targets;
mod wrappers;
