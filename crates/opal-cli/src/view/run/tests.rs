//! Events in, bytes out.

mod branches;
mod ends;
mod failures;
mod play;
mod steps;
