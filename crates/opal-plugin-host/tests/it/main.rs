//! The helper from the outside, over its protocol: real components, and hostile ones.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod calls;
mod fixtures;
mod hostile;
mod process;
mod serving;
