//! `manifest.json`: what a version declares, for `opal plugin info` and web pages. A project trusts only what
//! is in the package itself.

use opal_plugins::manifest::{Body, Manifest};
use semver::Version;
use serde::{Deserialize, Serialize};

use super::fields::{optional, text};
use super::{
    Dependency, FormatError, MANIFEST, MAX_MANIFEST, PackageName, Sha256, Visible, parse, write,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum ManifestFormat {
    #[default]
    #[serde(rename = "opal-manifest-v1")]
    V1,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageManifest {
    format: ManifestFormat,
    pub name: PackageName,
    #[serde(with = "text")]
    pub version: Version,
    pub checksum: Sha256,
    #[serde(default)]
    pub summary: Visible,
    #[serde(default)]
    pub license: Visible,
    #[serde(default)]
    pub repository: Visible,
    #[serde(default)]
    pub authors: Vec<Visible>,
    #[serde(with = "optional", default, skip_serializing_if = "Option::is_none")]
    pub min_core: Option<Version>,
    pub requires: Vec<Dependency>,
    /// As `opal plugin add` shows them.
    pub capabilities: Vec<Visible>,
    pub decorators: Vec<DecoratorEntry>,
    pub engines: Vec<Engine>,
}

/// One decorator, under the path that its package gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecoratorEntry {
    pub path: Visible,
    #[serde(default)]
    pub summary: Visible,
}

/// What its code runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Functions in opal.
    Opal,
    Wasm,
    Native,
}

impl PackageManifest {
    /// # Errors
    /// What is not as [`PackageManifest::to_bytes`] writes it.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        parse(MANIFEST, MAX_MANIFEST, bytes)
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write(self)
    }

    /// Of a package that was read; none where its name is not one.
    #[must_use]
    pub fn of(manifest: &Manifest, checksum: Sha256) -> Option<Self> {
        let description = &manifest.description;
        let optional = |text: &Option<String>| Visible::of(text.as_deref().unwrap_or_default());
        let requires = description.dependencies.iter().map(|(name, version)| {
            Some(Dependency { name: name.parse().ok()?, version: version.clone() })
        });
        let exported = manifest.decorators.iter().filter(|it| it.is_exported);
        let decorators = exported.map(|it| DecoratorEntry {
            path: Visible::of(&it.path),
            summary: Visible::of(it.descriptor.summary),
        });
        let has_opal = manifest.decorators.iter().any(|it| matches!(it.body, Body::Opal { .. }));
        let engines = [
            (Engine::Opal, has_opal),
            (Engine::Wasm, description.wasm.is_some()),
            (Engine::Native, description.native.is_some()),
        ];
        Some(Self {
            format: ManifestFormat::V1,
            name: description.name.parse().ok()?,
            version: description.version.clone(),
            checksum,
            summary: optional(&description.summary),
            license: optional(&description.license),
            repository: optional(&description.repository),
            authors: description.authors.iter().map(|it| Visible::of(it)).collect(),
            min_core: manifest.min_core.clone(),
            requires: requires.collect::<Option<_>>()?,
            capabilities: manifest
                .capabilities
                .iter()
                .map(|it| Visible::of(&it.to_string()))
                .collect(),
            decorators: decorators.collect(),
            engines: engines
                .into_iter()
                .filter(|(_, has)| *has)
                .map(|(engine, _)| engine)
                .collect(),
        })
    }
}
