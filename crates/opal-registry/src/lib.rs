//! Registries of packages: what is in one, byte by byte.
//!
//! | what | where |
//! |---|---|
//! | the archive of a package, `plugin.tar.gz` | [`archive`] |
//! | the documents of a registry, and where they are | [`format`](mod@format) |
//!
//! Deliberately not here: files and keys. `opal` reads and writes files and signs; this crate is linked by
//! the helper `opal-extra`, which gets bytes and returns bytes.

pub mod archive;
pub mod format;
