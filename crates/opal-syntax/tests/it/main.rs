//! Tests of the whole crate, through its public face.

mod format;
mod generate;
mod properties;
mod support;
