//! What is kept of modules, in real directories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "keep/credentials.rs"]
mod credentials;
#[path = "keep/evidence.rs"]
mod evidence;
#[path = "keep/files.rs"]
mod files;
#[path = "keep/init.rs"]
mod init;
#[path = "keep/real.rs"]
mod real;
#[path = "keep/root.rs"]
mod root;
#[path = "keep/state.rs"]
mod state;
#[path = "keep/support.rs"]
mod support;
