//! Packages of decorators: what they consist of, what they may do, who accepted them.
//!
//! | what | where |
//! |---|---|
//! | the files of a package and their checksum | [`package`] |
//! | what a package says about itself | [`manifest`] |
//! | names and versions | [`names`] |
//! | where packages come from | [`address`] |
//! | what a package may do | [`capability`] |
//! | `[plugins]` of `opal.mod` | [`project`] |
//! | `opal.lock` | [`lock`] |
//! | what a user knows about registries | [`registries`] |
//! | what people accepted on this machine | [`accept`] |
//! | what passed the tests on this machine | [`verified`] |
//! | the packages of a project and their decorators | [`installed`] |
//! | what is wrong with one | [`error`] |
//! | decorators of packages as opal plans and runs them | [`adapt`] |
//! | Terraform providers | [`provider`] |
//! | whether a package does what its manifest says | [`suite`] |
//! | the helper that runs the code of packages, and calling it | [`client`] |
//!
//! Deliberately not here: running the code of a package. Code runs in a helper process.

pub mod accept;
pub mod adapt;
pub mod address;
pub mod capability;
pub mod client;
mod codes;
mod engine;
pub mod error;
pub mod installed;
pub mod lock;
pub mod manifest;
pub mod names;
pub mod package;
pub mod project;
pub mod provider;
pub mod registries;
pub mod suite;
mod toml;
pub mod verified;
