//! What `opal` sends: one document; after it the files of the package, the statements, and the texts that may
//! be secret.

use std::path::PathBuf;

use opal_helper::Parcel;
use opal_plugins::package::Package;
use opal_trust::keys::PublicKey;
use semver::Version;
use serde_json::Value;

use crate::format::{PackageName, Sha256, Visible, Yank};
use crate::refusal::Refusal;
use crate::sources::Reach;

#[derive(Debug)]
pub(super) struct Request {
    pub(super) what: String,
    /// The address of the registry.
    pub(super) to: String,
    /// Seconds since 1970.
    pub(super) now: u64,
    /// Seconds until the index expires.
    pub(super) expires: u64,
    pub(super) index_key: Option<PublicKey>,
    pub(super) verifiers: Vec<PublicKey>,
    pub(super) statements: Vec<u8>,
    /// The runtime root.
    pub(super) root: PathBuf,
    /// The packages of a mirror.
    pub(super) checksums: Vec<Sha256>,
    pub(super) reach: Reach,
    head: Value,
    files: Vec<u8>,
}

impl Request {
    pub(super) fn read(parcel: &Parcel) -> Option<Self> {
        let head = parcel.head.get("publish")?;
        let text = |key: &str| head.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = |key: &str| head.get(key).and_then(Value::as_u64);
        let list = |key: &str| head.get(key).and_then(Value::as_array).map(Vec::as_slice);
        let key = |it: &Value| it.as_str()?.parse().ok();
        let index_key = match text("index_key") {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        };
        let verifiers: Option<_> = list("verifiers").unwrap_or_default().iter().map(key).collect();
        let digest = |it: &Value| it.as_str()?.parse().ok();
        let checksums: Option<_> =
            list("checksums").unwrap_or_default().iter().map(digest).collect();
        let secret = (2..).map_while(|index| parcel.text(index));
        Some(Self {
            what: text("what")?,
            to: text("to").unwrap_or_default(),
            now: number("now")?,
            expires: number("expires").unwrap_or_default(),
            index_key,
            verifiers: verifiers?,
            statements: parcel.blobs.get(1)?.to_vec(),
            root: text("root")?.into(),
            checksums: checksums?,
            reach: Reach::read(head, secret)?,
            head: head.clone(),
            files: parcel.blobs.first()?.to_vec(),
        })
    }

    /// The files of the package.
    pub(super) fn package(&self) -> Result<Package, Refusal> {
        let list = self.head.get("files").unwrap_or(&Value::Null);
        let package = Package::parted(list, &self.files);
        package.map_err(|error| Refusal::invalid(error.to_string()))
    }

    /// The version to yank, and why; without a reason it is no longer yanked.
    pub(super) fn yank(&self) -> Result<(PackageName, Version, Option<Yank>), Refusal> {
        let text = |key: &str| self.head.get(key).and_then(Value::as_str);
        let found = (|| {
            let name = text("name")?.parse().ok()?;
            let version = text("version")?.parse().ok()?;
            let yank =
                text("reason").map(|reason| Yank { reason: Visible::of(reason), at: self.now });
            Some((name, version, yank))
        })();
        found.ok_or_else(|| Refusal::invalid("a version is written as in acme/vault@1.2.0"))
    }
}
