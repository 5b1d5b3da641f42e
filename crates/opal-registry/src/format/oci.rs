//! The same documents in an OCI registry: the repository `<base>/<namespace>/<name>`, and in it tags.
//!
//! | tag | layers |
//! |---|---|
//! | `1.2.0`, with `_` for `+` | `plugin.tar.gz` and `manifest.json`; what `versions.json` says is in annotations |
//! | `attest-1.2.0` | `statements.jsonl` |
//! | `yanked-1.2.0` | nothing; annotations say whether it is yanked, and why |
//!
//! All types are plain ones, which every registry knows. There is no index.

use std::collections::BTreeMap;

use semver::Version;
use serde::{Deserialize, Serialize};

use super::fields::text;
use super::{
    FormatError, PackageName, Sha256, VersionEntry, Versions, Visible, Yank, parse, write,
};

pub const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
pub const ARCHIVE_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
pub const DOCUMENT_TYPE: &str = "application/json";
pub const STATEMENTS_TYPE: &str = "application/jsonl";
pub const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";

/// What configurations and the layers of yanks are: there is nothing to say, and some registries want a layer.
pub const EMPTY: &[u8] = b"{}";

/// Bytes of a manifest.
pub const MAX_OCI_MANIFEST: u64 = 4 << 20;

const FILE: &str = "OCI manifest";
const MAX_LAYERS: usize = 16;

const NAME: &str = "dev.opal.name";
const VERSION: &str = "org.opencontainers.image.version";
const CHECKSUM: &str = "dev.opal.checksum";
const MIN_CORE: &str = "dev.opal.min-core";
/// A JSON list, as in `versions.json`.
const REQUIRES: &str = "dev.opal.requires";
const PUBLISHED: &str = "dev.opal.published";
const YANKED: &str = "dev.opal.yanked";
const REASON: &str = "dev.opal.yanked.reason";
const AT: &str = "dev.opal.yanked.at";

/// A manifest. Registries may add fields of their own, so unknown ones are not refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OciManifest {
    schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    pub config: Descriptor,
    pub layers: Vec<Descriptor>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// What a manifest says about some bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    pub media_type: String,
    #[serde(with = "text")]
    pub digest: Sha256,
    pub size: u64,
}

impl Descriptor {
    #[must_use]
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        let size = bytes.len() as u64;
        Self { media_type: media_type.to_owned(), digest: Sha256::of(bytes), size }
    }
}

/// The tag of a version.
#[must_use]
pub fn tag(version: &Version) -> String {
    version.to_string().replace('+', "_")
}

#[must_use]
pub fn attest_tag(version: &Version) -> String {
    format!("attest-{}", tag(version))
}

#[must_use]
pub fn yanked_tag(version: &Version) -> String {
    format!("yanked-{}", tag(version))
}

/// What a tag of a repository is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    Version(Version),
    Attest(Version),
    Yanked(Version),
}

impl Tag {
    /// None for a tag that others made.
    #[must_use]
    pub fn parse(tag: &str) -> Option<Self> {
        // A version has no `_` of its own.
        let version = |text: &str| Version::parse(&text.replacen('_', "+", 1)).ok();
        if let Some(text) = tag.strip_prefix("attest-") {
            return version(text).map(Self::Attest);
        }
        if let Some(text) = tag.strip_prefix("yanked-") {
            return version(text).map(Self::Yanked);
        }
        version(tag).map(Self::Version)
    }
}

impl OciManifest {
    fn new(layers: Vec<Descriptor>, annotations: BTreeMap<String, String>) -> Self {
        Self {
            schema_version: 2,
            media_type: Some(MANIFEST_TYPE.to_owned()),
            config: Descriptor::of(EMPTY_TYPE, EMPTY),
            layers,
            annotations,
        }
    }

    /// Of a version: its archive, and its `manifest.json`.
    #[must_use]
    pub fn of_version(name: &PackageName, entry: &VersionEntry, manifest: &[u8]) -> Self {
        let archive = Descriptor {
            media_type: ARCHIVE_TYPE.to_owned(),
            digest: entry.archive,
            size: entry.size,
        };
        let requires = serde_json::to_string(&entry.requires).expect("a list of texts");
        let mut annotations = BTreeMap::from([
            (NAME.to_owned(), name.to_string()),
            (VERSION.to_owned(), entry.version.to_string()),
            (CHECKSUM.to_owned(), entry.checksum.to_string()),
            (PUBLISHED.to_owned(), entry.published.to_string()),
            (REQUIRES.to_owned(), requires),
        ]);
        if let Some(min_core) = &entry.min_core {
            annotations.insert(MIN_CORE.to_owned(), min_core.to_string());
        }
        Self::new(vec![archive, Descriptor::of(DOCUMENT_TYPE, manifest)], annotations)
    }

    /// Of the statements about a version.
    #[must_use]
    pub fn of_statements(statements: &[u8]) -> Self {
        Self::new(vec![Descriptor::of(STATEMENTS_TYPE, statements)], BTreeMap::new())
    }

    /// Whether a version is yanked. Few registries let people delete a tag, so it says no as well.
    #[must_use]
    pub fn of_yank(yank: Option<&Yank>) -> Self {
        let mut annotations = BTreeMap::from([(YANKED.to_owned(), yank.is_some().to_string())]);
        if let Some(yank) = yank {
            annotations.insert(REASON.to_owned(), yank.reason.to_string());
            annotations.insert(AT.to_owned(), yank.at.to_string());
        }
        Self::new(vec![Descriptor::of(EMPTY_TYPE, EMPTY)], annotations)
    }

    /// # Errors
    /// What is not a manifest of an image.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let found: Self = parse(FILE, MAX_OCI_MANIFEST, bytes)?;
        let wrong = |why: &str| Err(FormatError::new(FILE, why));
        if found.schema_version != 2 || found.layers.len() > MAX_LAYERS {
            return wrong("it is not a manifest of one artifact");
        }
        match found.media_type.as_deref() {
            None | Some(MANIFEST_TYPE) => Ok(found),
            Some(_) => wrong("it has another type"),
        }
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write(self)
    }

    /// The layer of a type.
    #[must_use]
    pub fn layer(&self, media_type: &str) -> Option<&Descriptor> {
        self.layers.iter().find(|layer| layer.media_type == media_type)
    }

    /// What `versions.json` would say about this version; `yanked` is the manifest of that tag.
    ///
    /// # Errors
    /// Where the annotations are not those of this version of this package.
    pub fn entry(
        &self,
        name: &PackageName,
        version: &Version,
        yanked: Option<&Self>,
    ) -> Result<VersionEntry, FormatError> {
        if self.annotations.get(NAME).map(String::as_str) != Some(name.as_str()) {
            return Err(FormatError::new(FILE, &format!("it is not of `{name}`")));
        }
        if self.annotations.get(VERSION) != Some(&version.to_string()) {
            return Err(FormatError::new(FILE, &format!("it is not of version {version}")));
        }
        let archive = self.layer(ARCHIVE_TYPE);
        let archive = archive.ok_or_else(|| FormatError::new(FILE, "it has no archive"))?;
        let requires = match self.annotations.get(REQUIRES) {
            Some(text) => parse(FILE, MAX_OCI_MANIFEST, text.as_bytes())?,
            None => Vec::new(),
        };
        let min_core = self.annotations.get(MIN_CORE).map(|_| self.annotation(MIN_CORE));
        let entry = VersionEntry {
            version: version.clone(),
            checksum: self.annotation(CHECKSUM)?,
            archive: archive.digest,
            size: archive.size,
            published: self.annotation(PUBLISHED)?,
            min_core: min_core.transpose()?,
            requires,
            yanked: yanked.map(Self::yank).transpose()?.flatten(),
        };
        // The rules of `versions.json` hold here too.
        let mut versions = Versions::new(name.clone());
        let wrong = || FormatError::new(FILE, "its annotations are not those of a version");
        versions.add(entry.clone()).map_err(|_| wrong())?;
        Ok(entry)
    }

    /// What a manifest of the tag `yanked-…` says.
    ///
    /// # Errors
    /// Where it does not say.
    pub fn yank(&self) -> Result<Option<Yank>, FormatError> {
        if !self.annotation::<bool>(YANKED)? {
            return Ok(None);
        }
        let reason: Visible = self.annotation(REASON)?;
        Ok(Some(Yank { reason, at: self.annotation(AT)? }))
    }

    fn annotation<T: std::str::FromStr>(&self, key: &str) -> Result<T, FormatError> {
        let found = self.annotations.get(key).and_then(|text| text.parse().ok());
        found.ok_or_else(|| FormatError::new(FILE, &format!("`{key}` is missing or invalid")))
    }
}
