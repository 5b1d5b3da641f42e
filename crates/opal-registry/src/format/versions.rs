//! `versions.json`: every version of a package.

use std::collections::BTreeSet;

use opal_plugins::names::Requirement;
use semver::Version;
use serde::{Deserialize, Serialize};

use super::fields::{optional, text};
use super::{FormatError, MAX_VERSIONS, PackageName, Sha256, Visible, parse, write};

const FILE: &str = "versions.json";
const MAX_ENTRIES: usize = 10_000;
const MAX_REQUIRES: usize = 256;

/// Bytes of a version: with a word before it, it is still a tag of an OCI registry.
const MAX_VERSION: usize = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum VersionsFormat {
    #[default]
    #[serde(rename = "opal-versions-v1")]
    V1,
}

/// The content of a `versions.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    format: VersionsFormat,
    pub name: PackageName,
    /// From the lowest to the highest, each once.
    versions: Vec<VersionEntry>,
}

/// One version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionEntry {
    #[serde(with = "text")]
    pub version: Version,
    /// Of the package, as locks have it.
    pub checksum: Sha256,
    /// Of the bytes of `plugin.tar.gz`.
    pub archive: Sha256,
    /// Of `plugin.tar.gz`, in bytes.
    pub size: u64,
    /// Seconds since 1970.
    pub published: u64,
    /// The oldest opal that can use it.
    #[serde(with = "optional", default, skip_serializing_if = "Option::is_none")]
    pub min_core: Option<Version>,
    #[serde(default)]
    pub requires: Vec<Dependency>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yanked: Option<Yank>,
}

/// A package that another one needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    pub name: PackageName,
    #[serde(with = "text")]
    pub version: Requirement,
}

/// A version that nobody should start to use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yank {
    pub reason: Visible,
    /// Seconds since 1970.
    pub at: u64,
}

impl Versions {
    /// A package without a version yet.
    #[must_use]
    pub const fn new(name: PackageName) -> Self {
        Self { format: VersionsFormat::V1, name, versions: Vec::new() }
    }

    /// # Errors
    /// What is not as [`Versions::to_bytes`] writes it.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let found: Self = parse(FILE, MAX_VERSIONS, bytes)?;
        let wrong = |why: &str| Err(FormatError::new(FILE, why));
        if found.versions.len() > MAX_ENTRIES {
            return wrong("it has more than 10,000 versions");
        }
        if !found.versions.is_sorted_by(|a, b| a.version < b.version) {
            return wrong("the versions are not sorted, or one appears twice");
        }
        let mut names = BTreeSet::new();
        for entry in &found.versions {
            if let Err(why) = check(entry) {
                return wrong(why);
            }
            if !names.insert(folded(&entry.version)) {
                return wrong("two versions differ only in case");
            }
        }
        Ok(found)
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write(self)
    }

    /// From the lowest to the highest.
    #[must_use]
    pub fn all(&self) -> &[VersionEntry] {
        &self.versions
    }

    #[must_use]
    pub fn get(&self, version: &Version) -> Option<&VersionEntry> {
        self.versions.iter().find(|entry| entry.version == *version)
    }

    pub fn get_mut(&mut self, version: &Version) -> Option<&mut VersionEntry> {
        self.versions.iter_mut().find(|entry| entry.version == *version)
    }

    /// The highest version that is not yanked, a pre-release only where there is nothing else.
    #[must_use]
    pub fn latest(&self) -> Option<&VersionEntry> {
        let usable = || self.versions.iter().filter(|entry| entry.yanked.is_none());
        usable().rfind(|entry| entry.version.pre.is_empty()).or_else(|| usable().next_back())
    }

    /// All of them but one.
    #[must_use]
    pub fn without(&self, version: &Version) -> Self {
        let mut left = self.clone();
        left.versions.retain(|entry| entry.version != *version);
        left
    }

    /// Adds a version.
    ///
    /// # Errors
    /// The version that is there already: this one, or one that differs in case only. A version is
    /// published once.
    pub fn add(&mut self, entry: VersionEntry) -> Result<(), AddError> {
        check(&entry).map_err(AddError::Invalid)?;
        if self.versions.len() == MAX_ENTRIES {
            return Err(AddError::Invalid("a package has at most 10,000 versions"));
        }
        let is_same = |known: &&VersionEntry| folded(&known.version) == folded(&entry.version);
        if let Some(known) = self.versions.iter().find(is_same) {
            return Err(AddError::Exists(known.version.clone()));
        }
        let at = self.versions.partition_point(|known| known.version < entry.version);
        self.versions.insert(at, entry);
        Ok(())
    }
}

/// Why a version cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddError {
    Exists(Version),
    Invalid(&'static str),
}

fn folded(version: &Version) -> String {
    version.to_string().to_ascii_lowercase()
}

fn check(entry: &VersionEntry) -> Result<(), &'static str> {
    if entry.version.to_string().len() > MAX_VERSION {
        return Err("a version is longer than 100 bytes");
    }
    if entry.requires.len() > MAX_REQUIRES {
        return Err("a version requires more than 256 packages");
    }
    if !entry.requires.is_sorted_by(|a, b| a.name < b.name) {
        return Err("the required packages are not sorted, or one appears twice");
    }
    if entry.size > crate::archive::MAX_PACKED {
        return Err("an archive is larger than a package can be");
    }
    Ok(())
}
