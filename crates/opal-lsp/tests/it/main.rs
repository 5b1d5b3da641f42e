//! The tests of the language server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "tests write workspaces and read their cases")]

mod cases;
mod client;
mod fixes;
mod hostile;
mod instructions;
mod order;
mod packages;
mod publishing;
mod random;
