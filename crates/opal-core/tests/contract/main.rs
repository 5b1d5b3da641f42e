//! Contracts from outside: their bytes, what refuses them, and how they are compared.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod compare;
mod golden;
mod hash;
mod newer;
mod raw;
mod reader;
mod round_trip;
mod support;
mod tamper;
