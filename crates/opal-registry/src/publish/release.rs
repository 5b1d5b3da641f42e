//! A version as it will be in a registry.

use opal_core::Registry;
use opal_plugins::manifest::Manifest;
use opal_plugins::package::Package;

use crate::archive;
use crate::format::{PackageManifest, PackageName, Sha256, VersionEntry, Visible};
use crate::refusal::Refusal;

#[derive(Debug)]
pub(super) struct Release {
    pub(super) name: PackageName,
    pub(super) entry: VersionEntry,
    /// The bytes of `plugin.tar.gz`.
    pub(super) archive: Vec<u8>,
    /// The bytes of `manifest.json`.
    pub(super) manifest: Vec<u8>,
    /// The bytes of `statements.jsonl`.
    pub(super) statements: Vec<u8>,
    pub(super) summary: Visible,
    pub(super) decorators: Vec<Visible>,
}

impl Release {
    pub(super) fn of(
        package: Package,
        statements: Vec<u8>,
        now: u64,
        built_in: &Registry,
    ) -> Result<Self, Refusal> {
        // `opal` has checked the manifest and shown what is wrong with it.
        let invalid = || Refusal::invalid("the directory is not a valid package");
        let manifest = Manifest::read(&package, built_in).map_err(|_| invalid())?;
        let checksum = Sha256(package.checksum());
        let about = PackageManifest::of(&manifest, checksum).ok_or_else(invalid)?;
        let archive = archive::write(&package);
        let entry = VersionEntry {
            version: about.version.clone(),
            checksum,
            archive: Sha256::of(&archive),
            size: archive.len() as u64,
            published: now,
            min_core: about.min_core.clone(),
            requires: about.requires.clone(),
            yanked: None,
        };
        Ok(Self {
            name: about.name.clone(),
            entry,
            archive,
            manifest: about.to_bytes(),
            statements,
            summary: about.summary,
            decorators: about.decorators.into_iter().map(|it| it.path).collect(),
        })
    }

    /// The name and the version, for people.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.name, self.entry.version)
    }
}
