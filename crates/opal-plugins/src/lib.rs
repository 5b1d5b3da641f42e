//! Packages of decorators: what they consist of, what they may do, who accepted them.
//!
//! | what | where |
//! |---|---|
//! | the files of a package and their checksum | [`package`] |
//! | what a package may do | [`capability`] |
//! | what is wrong with one | [`error`] |
//! | decorators of packages as opal plans and runs them | [`adapt`] |
//! | the helper that runs the code of packages, and calling it | [`client`] |
//!
//! Deliberately not here: running the code of a package. Code runs in a helper process.

pub mod adapt;
pub mod capability;
pub mod client;
pub mod error;
pub mod package;
