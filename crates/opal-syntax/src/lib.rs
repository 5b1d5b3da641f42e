//! Text ⇄ structure.
//!
//! ```text
//! source ──lexer──▶ tokens ──grammar──▶ events ─┬─▶ cursor ──▶ format, classes
//!                                               ├─▶ cursor ──▶ the planner (another crate)
//!                                               └─▶ tree ──▶ editors (another crate)
//! ```
//!
//! | what | where |
//! |---|---|
//! | kinds of tokens and nodes | [`kind`] |
//! | two lanes of text, language and shell | [`lexer`] |
//! | the places a reference can appear in | [`context`] |
//! | rules, cut by area | [`grammar`] |
//! | the flat row the rules write | [`event`] |
//! | reading that row without building anything | [`cursor`] |
//! | the lossless tree, for tools only | [`tree`] |
//! | the formatter | [`format`] |
//! | what each character is, for the grammars of editors | [`classes`] |
//! | what a file must be before any of this | [`source`] |
//! | files of other tools | [`Foreign`] |
//!
//! Deliberately not here: names. This crate does not know which variables, functions or fields
//! exist; of decorators it knows only what a [`Vocabulary`] tells it, because `@file.json` is text
//! and `@file.read` is not. It does no I/O, and parsing never fails: it returns events and errors.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")
)]

pub mod classes;
pub use opal_core::context;
pub mod cursor;
mod errors;
mod event;
mod foreign;
mod format;
mod grammar;
pub mod kind;
mod lexer;
mod parse;
mod parser;
pub mod source;
pub mod tokens;
pub mod tree;
pub mod vocabulary;

pub use foreign::Foreign;
pub use format::{Style, format};
pub use grammar::{parse, parse_shell};
pub use kind::SyntaxKind;
pub use lexer::block_lines;
pub use parse::Parse;
pub use vocabulary::{PathKind, Vocabulary};
