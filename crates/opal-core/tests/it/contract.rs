//! Contracts from outside: their bytes, what refuses them, and how they are compared.

mod compare;
mod golden;
mod hash;
mod newer;
pub(crate) mod raw;
mod reader;
mod round_trip;
pub(crate) mod support;
mod tamper;
