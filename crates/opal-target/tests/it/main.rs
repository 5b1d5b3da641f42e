//! A real helper, at the other end of two pipes.
#![allow(clippy::disallowed_methods, reason = "tests start programs")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod anywhere;
mod chaos;
mod counted;
mod dial;
mod hostile;
mod journal;
mod served;

// The tests name them so, wherever they run.
use anywhere::{resources, session};
