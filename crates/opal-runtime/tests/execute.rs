//! The order of effects: plans are run against a session that only writes a log, and the log, the
//! record and what the audience saw are compared.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod planning;

#[path = "execute/blocks.rs"]
mod blocks;
#[path = "execute/branches.rs"]
mod branches;
#[path = "execute/chains.rs"]
mod chains;
#[path = "execute/from.rs"]
mod from;
#[path = "execute/lets.rs"]
mod lets;
#[path = "execute/real.rs"]
mod real;
#[path = "execute/records.rs"]
mod records;
#[path = "execute/redirects.rs"]
mod redirects;
#[path = "execute/resources.rs"]
mod resources;
#[path = "execute/running.rs"]
mod running;
#[path = "execute/surveyed.rs"]
mod surveyed;
#[path = "verify/things.rs"]
mod things;
#[path = "execute/wrappers.rs"]
mod wrappers;
