//! The verbs of opal.
//!
//! | what | where |
//! |---|---|
//! | the built-in decorators: what each is | [`decorators`] |
//! | the program in the form that every front end lowers to | [`unit`] |
//! | from the events of a source text to that form | [`lower`] |
//! | names, arguments, types, run-time bindings: all that needs no values | [`check`] |
//! | what the lexer must know of the registry | [`words`] |
//!
//! Deliberately not here yet: planning and execution. Nothing in this crate reads the world so far;
//! what it is given is text and a registry.

pub mod check;
pub mod decorators;
pub mod lower;
pub mod unit;
pub mod words;

pub use words::Words;
