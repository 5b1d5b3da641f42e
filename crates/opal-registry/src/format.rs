//! The documents of a registry.
//!
//! ```text
//! index.json                               every package, signed     Index, in an envelope
//! <namespace>/<name>/versions.json         every version of one      Versions
//! <namespace>/<name>/<version>/
//!     plugin.tar.gz                        the files                 archive
//!     plugin.tar.gz.sha256                 as sha256sum writes it    archive_sum
//!     manifest.json                        what it declares          PackageManifest
//!     statements.jsonl                     who vouches for it        one envelope on each line
//! ```
//!
//! An OCI registry has the same documents in other places: [`oci`]. Everything is read strictly and has a
//! limit; what is shown to people has visible symbols only.

pub mod fields;
mod index;
mod manifest;
pub mod oci;
mod versions;

use std::error::Error;
use std::fmt;

use opal_core::hash::Algorithm;
use semver::Version;
use serde::de::DeserializeOwned;

pub use fields::{PackageName, Sha256, Visible};
pub use index::{INDEX_TYPE, Index, IndexEntry};
pub use manifest::{DecoratorEntry, Engine, PackageManifest};
pub use versions::{AddError, Dependency, VersionEntry, Versions, Yank};

/// The name of the index, at the top of a registry.
pub const INDEX: &str = "index.json";
pub const ARCHIVE: &str = "plugin.tar.gz";
pub const ARCHIVE_SUM: &str = "plugin.tar.gz.sha256";
pub const MANIFEST: &str = "manifest.json";
pub const STATEMENTS: &str = "statements.jsonl";

/// Bytes of each document.
pub const MAX_INDEX: u64 = 48 << 20;
pub const MAX_VERSIONS: u64 = 8 << 20;
pub const MAX_MANIFEST: u64 = 4 << 20;
pub const MAX_STATEMENTS: u64 = 4 << 20;
pub const MAX_SUM: u64 = 1024;

/// Envelopes in `statements.jsonl`.
pub const MAX_STATEMENT_LINES: usize = 64;

/// Why bytes are not the document that they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// `versions.json`.
    pub file: &'static str,
    /// With visible symbols only.
    pub why: String,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid `{}`: {}", self.file, self.why)
    }
}

impl Error for FormatError {}

impl FormatError {
    pub(crate) fn new(file: &'static str, why: &str) -> Self {
        // An error of the parser quotes the document, which anyone may have written.
        let visible = |c: char| if fields::is_visible(c) { c } else { '\u{fffd}' };
        Self { file, why: why.chars().take(200).map(visible).collect() }
    }
}

/// Reads a document of at most `most` bytes.
fn parse<T: DeserializeOwned>(
    file: &'static str,
    most: u64,
    bytes: &[u8],
) -> Result<T, FormatError> {
    if bytes.len() as u64 > most {
        return Err(FormatError::new(file, &format!("it is larger than {most} bytes")));
    }
    serde_json::from_slice(bytes).map_err(|error| FormatError::new(file, &error.to_string()))
}

/// Writes a document, one that a person can read, with a newline at its end.
fn write<T: serde::Serialize>(document: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(document).expect("a document has text keys only");
    bytes.push(b'\n');
    bytes
}

/// `<namespace>/<name>/versions.json`, from the top of a registry.
#[must_use]
pub fn versions_path(name: &PackageName) -> String {
    format!("{name}/versions.json")
}

/// `<namespace>/<name>/<version>`, from the top of a registry. In an address, `+` is written `%2B`: some
/// servers take it for a space.
#[must_use]
pub fn version_path(name: &PackageName, version: &Version) -> String {
    format!("{name}/{version}")
}

/// `plugin.tar.gz.sha256`: the line that `sha256sum -c` reads.
#[must_use]
pub fn archive_sum(archive: &[u8]) -> String {
    format!("{}  {ARCHIVE}\n", Algorithm::Sha256.digest(&[archive]).hex())
}

#[cfg(test)]
mod tests;
