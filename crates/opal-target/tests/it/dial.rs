//! Reaching targets: real servers, real login shells, hostile surroundings.

mod shells;
mod ssh;
mod support;
