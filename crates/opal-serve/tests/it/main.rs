//! The helper as a program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "the tests start the programs that they test")]

mod lsp;
