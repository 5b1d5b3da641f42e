//! Tests of the whole crate, through its public face.

mod expect;
mod format;
mod generate;
mod grammar;
mod lexer;
mod linear;
mod properties;
mod recovery;
mod support;
