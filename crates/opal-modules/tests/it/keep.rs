//! What is kept of modules, in real directories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod credentials;
mod evidence;
mod files;
mod init;
mod real;
mod root;
mod state;
mod support;
