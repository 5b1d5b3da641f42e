//! Registries of packages: what is in one, byte by byte.
//!
//! | what | where |
//! |---|---|
//! | the archive of a package, `plugin.tar.gz` | [`archive`] |
//! | the documents of a registry, and where they are | [`format`](mod@format) |
//! | what `opal` asks for a project that uses packages | [`consume`] |
//! | documents and archives of registries of Terraform providers | [`download`] |
//! | which version of each package | `resolve`, `registries` |
//! | registries and git repositories | `sources` |
//! | whether a registry is fresh | `freshness` |
//! | packages of this machine | `cache` |
//!
//! Deliberately not here: whether a package may be used, and private keys. `opal` decides, asks the person and
//! signs; this crate is linked by the helper `opal-extra`.

pub mod archive;
mod cache;
pub mod consume;
pub mod download;
pub mod format;
mod freshness;
mod programs;
pub mod publish;
mod refusal;
mod registries;
mod resolve;
mod sources;
