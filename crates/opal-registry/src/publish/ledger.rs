//! What a static registry says: every `versions.json`, and the index over them.
//!
//! An author changes one package. What the index says about the others stays, and nothing is signed that the
//! owner of the key has not seen: the index must be signed by the same key, and list exactly the versions that
//! the change begins with.

use opal_trust::dsse::Envelope;
use opal_trust::keys::PublicKey;
use semver::Version;

use super::release::Release;
use super::store::{Found, MAX_LIST, MAX_STATEMENTS, Store};
use crate::format::{
    ARCHIVE, ARCHIVE_SUM, AddError, INDEX, INDEX_TYPE, Index, IndexEntry, MANIFEST, MAX_INDEX,
    MAX_STATEMENT_LINES, PackageName, STATEMENTS, Sha256, Versions, Yank, archive_sum,
    version_path, versions_path,
};
use crate::refusal::Refusal;

const OWNER: &str = "ask the owner of the registry; nothing was changed";

/// The envelope of an index that follows another one.
pub(super) type Sign<'a> = dyn FnMut(&[u8], &[u8]) -> Option<Vec<u8>> + 'a;

/// Who signs the index; none where it stays unsigned.
pub(super) struct Signer<'a> {
    pub(super) key: Option<PublicKey>,
    /// Asks `opal` for the signature of an index that follows another one; none where it refuses.
    pub(super) sign: &'a mut Sign<'a>,
}

/// What is new about an index, beside its packages.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) now: u64,
    pub(super) expires: u64,
    /// Keys that become verifiers.
    pub(super) verifiers: Vec<PublicKey>,
}

pub(super) struct Ledger<'s, 'k> {
    store: &'s dyn Store,
    address: String,
    signer: Signer<'k>,
    before: Option<Found>,
    index: Index,
}

impl<'s, 'k> Ledger<'s, 'k> {
    pub(super) fn open(
        store: &'s dyn Store,
        address: &str,
        signer: Signer<'k>,
    ) -> Result<Self, Refusal> {
        let before = store.get(INDEX, MAX_INDEX)?;
        let address = address.to_owned();
        let index = match &before {
            None => Index::default(),
            Some(found) => checked(&found.bytes, &address, signer.key.as_ref(), store.is_own())?,
        };
        Ok(Self { store, address, signer, before, index })
    }

    pub(super) const fn number(&self) -> u64 {
        self.index.number
    }

    fn versions(&self, name: &PackageName) -> Result<(Versions, Option<Found>), Refusal> {
        read(self.store, &self.address, name)
    }

    /// Whether a version is there with the same files.
    pub(super) fn has(&self, release: &Release) -> Result<bool, Refusal> {
        let (versions, _) = self.versions(&release.name)?;
        let known = versions.get(&release.entry.version);
        Ok(known.is_some_and(|known| known.checksum == release.entry.checksum))
    }

    /// Adds a version. Whether it was there, and only the index had to be finished.
    pub(super) fn add(&mut self, release: &Release) -> Result<bool, Refusal> {
        let (mut versions, before) = self.versions(&release.name)?;
        if self.is_interrupted(&versions, before.as_ref(), release) {
            self.list(&versions, Some(release));
            return Ok(true);
        }
        match versions.add(release.entry.clone()) {
            Ok(()) => {}
            Err(AddError::Exists(known)) => {
                let message =
                    format!("the registry {} already has {} {known}", self.address, release.name);
                let help = "publish a new version: a version never changes";
                return Err(Refusal::conflict(message, help));
            }
            Err(AddError::Invalid(why)) => {
                return Err(Refusal::invalid(format!(
                    "{} cannot be published: {why}",
                    release.shown()
                )));
            }
        }
        self.is_listed(&release.name, before.as_ref())?;
        let sum = archive_sum(&release.archive);
        let path = version_path(&release.name, &release.entry.version);
        self.store.put_version(
            &path,
            &[
                (ARCHIVE, &release.archive),
                (ARCHIVE_SUM, sum.as_bytes()),
                (MANIFEST, &release.manifest),
                (STATEMENTS, &release.statements),
            ],
        )?;
        let path = versions_path(&release.name);
        self.store.put(&path, &versions.to_bytes(), before.as_ref())?;
        self.list(&versions, Some(release));
        Ok(false)
    }

    /// Whether an author was interrupted between `versions.json` and the index: without this version the
    /// list is the one that the index knows.
    fn is_interrupted(
        &self,
        versions: &Versions,
        before: Option<&Found>,
        release: &Release,
    ) -> bool {
        let known = versions.get(&release.entry.version);
        let is_same = known.is_some_and(|known| known.archive == release.entry.archive);
        let now = before.map(|found| Sha256::of(&found.bytes));
        let listed = self.index.get(&release.name).map(|entry| entry.versions);
        if !is_same || self.before.is_none() || listed == now {
            return false;
        }
        let without = versions.without(&release.entry.version);
        match listed {
            None => without.all().is_empty(),
            Some(listed) => Sha256::of(&without.to_bytes()) == listed,
        }
    }

    /// Whether the index lists what is there. Otherwise somebody changed one of the two.
    fn is_listed(&self, name: &PackageName, before: Option<&Found>) -> Result<(), Refusal> {
        let listed = self.index.get(name).map(|entry| entry.versions);
        let now = before.map(|found| Sha256::of(&found.bytes));
        if self.before.is_none() || listed == now {
            return Ok(());
        }
        let message = format!(
            "the registry {} has other versions of {name} than its index lists",
            self.address
        );
        Err(Refusal::untrusted(message, OWNER))
    }

    /// Yanks a version, or undoes it. Whether something changed.
    pub(super) fn yank(
        &mut self,
        name: &PackageName,
        version: &Version,
        yank: Option<Yank>,
    ) -> Result<bool, Refusal> {
        let (mut versions, before) = self.versions(name)?;
        let address = &self.address;
        let Some(entry) = versions.get_mut(version) else {
            let message = format!("the registry {address} does not have {name} {version}");
            return Err(Refusal::unavailable(message, "check the name and the version"));
        };
        if entry.yanked.is_some() == yank.is_some() {
            return Ok(false);
        }
        entry.yanked = yank;
        self.is_listed(name, before.as_ref())?;
        self.store.put(&versions_path(name), &versions.to_bytes(), before.as_ref())?;
        self.list(&versions, None);
        Ok(true)
    }

    fn list(&mut self, versions: &Versions, release: Option<&Release>) {
        let latest = versions.latest().map(|entry| entry.version.clone());
        let known = self.index.get(&versions.name);
        let is_latest = release.filter(|it| latest.as_ref() == Some(&it.entry.version));
        let (summary, decorators) = match (is_latest, known) {
            (Some(release), _) => (release.summary.clone(), release.decorators.clone()),
            (None, Some(known)) => (known.summary.clone(), known.decorators.clone()),
            (None, None) => Default::default(),
        };
        let digest = Sha256::of(&versions.to_bytes());
        let name = versions.name.clone();
        self.index.set(IndexEntry { name, versions: digest, latest, summary, decorators });
    }

    /// Writes the index, with the next number.
    pub(super) fn write(&mut self, change: &Change) -> Result<(), Refusal> {
        let index = &mut self.index;
        index.number += 1;
        (index.issued, index.expires) = (change.now, change.expires);
        index.verifiers.extend(&change.verifiers);
        index.verifiers.sort_unstable();
        index.verifiers.dedup();
        let payload = index.to_bytes();
        let bytes = match self.signer.key {
            None => Envelope::new(INDEX_TYPE, payload).to_line().into_bytes(),
            Some(key) => {
                let before = self.before.as_ref().map_or(&[][..], |it| &it.bytes);
                let line = (self.signer.sign)(&payload, before);
                let is_right = |line: &Vec<u8>| {
                    let envelope = Envelope::parse(line);
                    envelope.is_ok_and(|it| {
                        it.is_signed_by(&key) && it.payload(INDEX_TYPE) == Some(&payload)
                    })
                };
                line.filter(is_right).ok_or_else(|| {
                    Refusal::untrusted(format!("nobody signed the index with {key}"), OWNER)
                })?
            }
        };
        self.store.put(INDEX, &bytes, self.before.as_ref())
    }
}

/// The index that is there, where this author may go on from it.
fn checked(
    bytes: &[u8],
    address: &str,
    key: Option<&PublicKey>,
    is_own: bool,
) -> Result<Index, Refusal> {
    let wrong = |why: &str, help: &str| {
        Err(Refusal::untrusted(format!("the index of the registry {address} {why}"), help))
    };
    let Ok(envelope) = Envelope::parse(bytes) else { return wrong("cannot be read", OWNER) };
    let Some(payload) = envelope.payload(INDEX_TYPE) else {
        return wrong("is not an index", OWNER);
    };
    let signers = envelope.signers();
    match (key, signers.first()) {
        (Some(key), _) if signers.contains(key) => {}
        (Some(key), Some(other)) => {
            let help = "name the key of the registry: `--index-key NAME`";
            return wrong(&format!("is signed by {other}, and not by {key}"), help);
        }
        (None, Some(other)) => {
            let help = "name the key of the registry: `--index-key NAME`";
            return wrong(&format!("is signed by {other}"), help);
        }
        // Whoever can write to a server could have removed a signature.
        (Some(_), None) if !is_own => {
            let help =
                "sign the index in the directory that the server has it from: `--to file:DIR`";
            return wrong("is not signed", help);
        }
        (_, None) => {}
    }
    Index::parse(payload).map_err(|error| Refusal::document(address, &error))
}

fn read(
    store: &dyn Store,
    address: &str,
    name: &PackageName,
) -> Result<(Versions, Option<Found>), Refusal> {
    let before = store.get(&versions_path(name), MAX_LIST)?;
    let versions = match &before {
        None => Versions::new(name.clone()),
        Some(found) => {
            Versions::parse(&found.bytes).map_err(|error| Refusal::document(address, &error))?
        }
    };
    if versions.name != *name {
        let message =
            format!("the registry {address} has the versions of {} for {name}", versions.name);
        return Err(Refusal::untrusted(message, OWNER));
    }
    Ok((versions, before))
}

/// Adds statements about a version that is there with the same files.
pub(super) fn attest(store: &dyn Store, address: &str, release: &Release) -> Result<(), Refusal> {
    let (versions, _) = read(store, address, &release.name)?;
    let shown = release.shown();
    match versions.get(&release.entry.version) {
        Some(known) if known.checksum == release.entry.checksum => {}
        Some(_) => {
            let message = format!("the registry {address} has {shown} with other files");
            return Err(Refusal::untrusted(message, "verify the files that are in the registry"));
        }
        None => {
            let message = format!("the registry {address} does not have {shown}");
            return Err(Refusal::unavailable(message, "publish it first"));
        }
    }
    let path = format!("{}/{STATEMENTS}", version_path(&release.name, &release.entry.version));
    let before = store.get(&path, MAX_STATEMENTS)?;
    let mut lines = before.as_ref().map(|found| found.bytes.clone()).unwrap_or_default();
    lines.extend(&release.statements);
    let count = lines.iter().filter(|byte| **byte == b'\n').count();
    if count > MAX_STATEMENT_LINES || lines.len() as u64 > MAX_STATEMENTS {
        return Err(Refusal::invalid(format!("{shown} has too many statements")));
    }
    store.put(&path, &lines, before.as_ref())
}
