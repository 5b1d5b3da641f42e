//! Events in, bytes out.

mod branches;
mod ends;
mod failures;
mod foreign;
mod play;
mod steps;
