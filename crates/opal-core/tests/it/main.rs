//! The crate from the outside: contracts, views of plans, and what reading a contract takes.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod contract;
mod memory;
mod protocol;
mod view;
