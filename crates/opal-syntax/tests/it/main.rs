//! Tests of the whole crate, through its public face.

#[expect(dead_code, reason = "used by the suites as they are added")]
mod support;
