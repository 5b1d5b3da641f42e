//! Files that opal opens and writes for itself.
//!
//! | what | where |
//! |---|---|
//! | opening what must be a regular file | [`regular`] |
//! | opening a file below a directory, whoever changes symlinks meanwhile | [`beneath`] |
//! | opening what somebody named as the place to write to | [`outgoing`] |
//! | files that get their name when they are complete | [`atomic`] |
//! | where programs are | [`program`] |
//! | keeping the memory of this process from other processes and core files | [`memory`] |
//! | whether nobody else can have written a file | [`trusted`] |
//! | why a file is not opened or not trusted, in words | `error` |
//!
//! A crate of its own, because a session, which is sent to other machines, must not see the vault,
//! and both write files. Deliberately not here: which files these are.

pub mod atomic;
pub mod beneath;
mod error;
pub mod memory;
pub mod outgoing;
pub mod program;
pub mod regular;
pub mod trusted;

pub use error::SystemError;
