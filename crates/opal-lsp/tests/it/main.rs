//! The tests of the language server.

mod cases;
mod client;
mod hostile;
mod order;
mod random;
