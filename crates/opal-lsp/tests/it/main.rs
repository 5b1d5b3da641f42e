//! The tests of the language server.

mod cases;
mod client;
mod fixes;
mod hostile;
mod order;
mod packages;
mod random;
