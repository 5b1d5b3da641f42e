//! Tests of the whole crate, through its public face.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod classes;
mod format;
mod generate;
mod grammar;
mod lexer;
mod linear;
mod properties;
mod recovery;
mod support;

/// A part of the fixtures.
fn test_data(part: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data").join(part)
}
