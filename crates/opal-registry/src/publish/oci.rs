//! Uploading to an OCI registry. The tag of a version comes last: without it there is no version.

use semver::Version;

use super::release::Release;
use crate::format::oci::{self, EMPTY, MANIFEST_TYPE, OciManifest};
use crate::format::{MAX_STATEMENT_LINES, MAX_STATEMENTS, PackageName, Sha256, Yank};
use crate::refusal::Refusal;
use crate::sources::oci::Oci;

/// Bytes of an answer to what was sent.
const MAX_ANSWER: u64 = 64 * 1024;

/// Where a package is uploaded to.
pub(super) struct Upload<'a> {
    pub(super) registry: Oci<'a>,
    pub(super) address: &'a str,
}

impl Upload<'_> {
    pub(super) fn publish(&self, release: &Release) -> Result<(), Refusal> {
        let (name, version) = (&release.name, &release.entry.version);
        if self.registry.manifest(name, &oci::tag(version))?.is_some() {
            let message = format!("the registry {} already has {}", self.address, release.shown());
            return Err(Refusal::conflict(
                message,
                "publish a new version: a version never changes",
            ));
        }
        self.blob(name, EMPTY)?;
        self.blob(name, &release.archive)?;
        self.blob(name, &release.manifest)?;
        if !release.statements.is_empty() {
            self.statements(name, version, &release.statements)?;
        }
        let manifest = OciManifest::of_version(name, &release.entry, &release.manifest);
        self.tag(name, &oci::tag(version), &manifest)
    }

    /// Adds statements about a version that is there with the same files.
    pub(super) fn attest(&self, release: &Release) -> Result<(), Refusal> {
        let (name, version, shown) = (&release.name, &release.entry.version, release.shown());
        let entry = self.entry(name, version)?;
        if entry.checksum != release.entry.checksum {
            let message = format!("the registry {} has {shown} with other files", self.address);
            return Err(Refusal::untrusted(message, "verify the files that are in the registry"));
        }
        let before = self.registry.statements_of(name, version)?;
        let lines = [before.unwrap_or_default(), release.statements.clone()].concat();
        let count = lines.iter().filter(|byte| **byte == b'\n').count();
        if count > MAX_STATEMENT_LINES || lines.len() as u64 > MAX_STATEMENTS {
            return Err(Refusal::invalid(format!("{shown} has too many statements")));
        }
        self.blob(name, EMPTY)?;
        self.statements(name, version, &lines)
    }

    /// Whether something changed.
    pub(super) fn yank(
        &self,
        name: &PackageName,
        version: &Version,
        yank: Option<&Yank>,
    ) -> Result<bool, Refusal> {
        if self.entry(name, version)?.yanked.is_some() == yank.is_some() {
            return Ok(false);
        }
        self.blob(name, EMPTY)?;
        self.tag(name, &oci::yanked_tag(version), &OciManifest::of_yank(yank))?;
        Ok(true)
    }

    fn entry(
        &self,
        name: &PackageName,
        version: &Version,
    ) -> Result<crate::format::VersionEntry, Refusal> {
        let Some(manifest) = self.registry.manifest(name, &oci::tag(version))? else {
            let message = format!("the registry {} does not have {name} {version}", self.address);
            return Err(Refusal::unavailable(message, "check the name and the version"));
        };
        let yanked = self.registry.manifest(name, &oci::yanked_tag(version))?;
        let entry = manifest.entry(name, version, yanked.as_ref());
        entry.map_err(|error| Refusal::document(self.address, &error))
    }

    fn statements(
        &self,
        name: &PackageName,
        version: &Version,
        lines: &[u8],
    ) -> Result<(), Refusal> {
        self.blob(name, lines)?;
        self.tag(name, &oci::attest_tag(version), &OciManifest::of_statements(lines))
    }

    fn blob(&self, name: &PackageName, bytes: &[u8]) -> Result<(), Refusal> {
        let digest = Sha256::of(bytes);
        let there = self.registry.url(name, &format!("blobs/{digest}"));
        if self.registry.exchange("HEAD", &there, &[], &[], MAX_ANSWER)?.status == 200 {
            return Ok(());
        }
        let begin = self.registry.url(name, "blobs/uploads/");
        let begun = self.registry.exchange("POST", &begin, &[], &[], MAX_ANSWER)?;
        let place = begun.header("location").filter(|_| begun.status == 202);
        let Some(place) = place.and_then(|place| self.registry.own(place)) else {
            return Err(self.denied(begun.status));
        };
        let joint = if place.contains('?') { '&' } else { '?' };
        let place = format!("{place}{joint}digest={digest}");
        let kind = [("Content-Type", "application/octet-stream")];
        match self.registry.exchange("PUT", &place, &kind, bytes, MAX_ANSWER)?.status {
            201 => Ok(()),
            status => Err(self.denied(status)),
        }
    }

    fn tag(&self, name: &PackageName, tag: &str, manifest: &OciManifest) -> Result<(), Refusal> {
        let url = self.registry.url(name, &format!("manifests/{tag}"));
        let kind = [("Content-Type", MANIFEST_TYPE)];
        let bytes = manifest.to_bytes();
        match self.registry.exchange("PUT", &url, &kind, &bytes, MAX_ANSWER)?.status {
            200 | 201 => Ok(()),
            status => Err(self.denied(status)),
        }
    }

    fn denied(&self, status: u16) -> Refusal {
        match status {
            401 | 403 => Refusal::untrusted(
                format!("the registry {} does not let you write", self.address),
                "use `docker login`, or `config/registries.toml` of the runtime root",
            ),
            405 => Refusal::unavailable(
                format!("the registry {} is read-only", self.address),
                "ask its owner",
            ),
            status => Refusal::unavailable(
                format!("the registry {} answered an upload with status {status}", self.address),
                "try again later, or ask its owner",
            ),
        }
    }
}
