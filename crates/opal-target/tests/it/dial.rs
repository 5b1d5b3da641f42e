//! Reaching targets: real servers, real login shells, hostile surroundings.

mod containers;
mod faults;
mod keys;
mod local;
mod plain;
mod questions;
mod shells;
mod ssh;
mod support;
mod user;
