//! `index.json`: every package of a registry, for search and for freshness. The file is an envelope (DSSE), and
//! this is its payload; an index without a key has an envelope without signatures.

use opal_trust::keys::PublicKey;
use semver::Version;
use serde::{Deserialize, Serialize};

use super::fields::{list, optional};
use super::{FormatError, INDEX, MAX_INDEX, PackageName, Sha256, Visible, parse, write};

/// The type of the payload.
pub const INDEX_TYPE: &str = "application/vnd.opal.index.v1+json";

const MAX_PACKAGES: usize = 100_000;
const MAX_VERIFIERS: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum IndexFormat {
    #[default]
    #[serde(rename = "opal-index-v1")]
    V1,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    format: IndexFormat,
    /// One more with each change: a lower one than was seen before is refused.
    pub number: u64,
    /// Seconds since 1970.
    pub issued: u64,
    /// Seconds since 1970; refused from then on.
    pub expires: u64,
    /// Whose reports of `opal plugin verify` make a version `passed`.
    #[serde(with = "list", default)]
    pub verifiers: Vec<PublicKey>,
    /// In the order of their names, each once.
    packages: Vec<IndexEntry>,
}

/// One package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexEntry {
    pub name: PackageName,
    /// Of the bytes of its `versions.json`, yanks included.
    pub versions: Sha256,
    /// The highest version that is not yanked.
    #[serde(with = "optional", default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<Version>,
    #[serde(default)]
    pub summary: Visible,
    /// The paths of the decorators of the latest version.
    #[serde(default)]
    pub decorators: Vec<Visible>,
}

impl Index {
    /// # Errors
    /// What is not as [`Index::to_bytes`] writes it.
    pub fn parse(payload: &[u8]) -> Result<Self, FormatError> {
        let found: Self = parse(INDEX, MAX_INDEX, payload)?;
        let wrong = |why: &str| Err(FormatError::new(INDEX, why));
        if found.packages.len() > MAX_PACKAGES {
            return wrong("it has more than 100,000 packages");
        }
        if found.verifiers.len() > MAX_VERIFIERS {
            return wrong("it has more than 64 verifiers");
        }
        if found.issued > found.expires {
            return wrong("it expires before it was issued");
        }
        match found.packages.is_sorted_by(|a, b| a.name < b.name) {
            true => Ok(found),
            false => wrong("the packages are not sorted, or one appears twice"),
        }
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write(self)
    }

    #[must_use]
    pub fn packages(&self) -> &[IndexEntry] {
        &self.packages
    }

    #[must_use]
    pub fn get(&self, name: &PackageName) -> Option<&IndexEntry> {
        let at = self.packages.binary_search_by(|entry| entry.name.cmp(name)).ok()?;
        self.packages.get(at)
    }

    /// Adds a package, or replaces what is said about it.
    pub fn set(&mut self, entry: IndexEntry) {
        match self.packages.binary_search_by(|known| known.name.cmp(&entry.name)) {
            Ok(at) => self.packages[at] = entry,
            Err(at) => self.packages.insert(at, entry),
        }
    }
}
