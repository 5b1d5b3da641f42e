//! From the text of a program to a plan.
//!
//! | what | where |
//! |---|---|
//! | the program in the form that every front end lowers to | [`unit`] |
//! | from the events of a source text to that form | [`lower`] |
//! | a source with the files that it imports | [`program`] |
//! | names, arguments, types: all that needs no values | [`check`] |
//! | from a unit to a plan | [`plan`] |
//! | what the lexer must know of the registry | [`Words`], [`PackageWords`] |
//!
//! Deliberately not here: the world, which comes in as a `Probe`, and whoever runs a plan.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")
)]

pub mod check;
pub mod lower;
pub mod plan;
pub mod program;
pub mod unit;
mod words;

pub use words::{PackageWords, Words};
