//! Who vouches for a package: the statements that were fetched with it, checked whenever it is read.

use std::path::Path;

use opal_core::hash::Algorithm;
use opal_files::regular;
use opal_trust::dsse::Envelope;
use opal_trust::keys::PublicKey;
use opal_trust::statements::{self, Subject};
use semver::Version;
use serde_json::Value;

use super::Purpose;
use super::bundles::{SIGSTORE, Signers, has_bundle};
use super::error::LoadError;
use super::store::Store;
use crate::address::Source;
use crate::lock::Locked;

/// Beside the files of a package in the cache: what others say about it.
pub const STATEMENTS: &str = "statements.jsonl";

/// Beside the packages: the index of each registry whose key is known, as it was seen last.
pub const INDEXES: &str = "indexes";

const INDEX_TYPE: &str = "application/vnd.opal.index.v1+json";
const MAX_INDEX: u64 = 64 << 20;

/// The name of the file with the index of a registry.
#[must_use]
pub fn index_file(address: &str) -> String {
    let address = address.trim_end_matches('/');
    format!("{}.json", Algorithm::Sha256.digest(&[address.as_bytes()]).hex())
}

const MAX_BYTES: u64 = 4 << 20;

pub(super) struct Vouched {
    pub(super) signed_by: Option<String>,
    pub(super) verification: &'static str,
}

impl Default for Vouched {
    fn default() -> Self {
        Self { signed_by: None, verification: "none" }
    }
}

/// The publisher of a locked package. The lock pins it: a file of the project cannot make up another one,
/// because the statements are checked again.
pub(super) fn read(
    store: Store<'_>,
    locked: &Locked,
    directory: &Path,
    purpose: Purpose,
) -> Result<Vouched, LoadError> {
    let text =
        |name: &str| regular::read_to_string(&directory.join(name), MAX_BYTES).unwrap_or_default();
    let lines = text(STATEMENTS);
    let (Some(checksum), version) = (locked.checksum, locked.version.to_string()) else {
        return Ok(Vouched::default());
    };
    let subject = Subject { name: &locked.name, version: &version, checksum };
    let vouched = statements::read(lines.as_bytes(), &subject);
    let mut publishers: Vec<String> = vouched.publishers.iter().map(ToString::to_string).collect();
    let asks = match &locked.signed_by {
        Some(pinned) => pinned.starts_with(SIGSTORE),
        None => store.is_new && publishers.is_empty() && has_bundle(lines.as_bytes()),
    };
    let signers = match store.trust.filter(|_| asks) {
        Some(trust) => trust.signers(&checksum, lines.as_bytes())?,
        None => Signers::default(),
    };
    publishers.extend(signers.publishers.iter().cloned());
    // Only a helper can verify an identity, and whoever shows decorators starts none.
    let is_left_out = |it: &str| purpose == Purpose::Show && it.starts_with(SIGSTORE);
    let missing = locked.signed_by.as_ref().filter(|it| !publishers.contains(it));
    if let Some(pinned) = missing.filter(|it| !is_left_out(it)) {
        return Err(unsigned(locked, pinned, &signers));
    }
    let verifiers = match vouched.passed_by.is_empty() {
        true => Vec::new(),
        false => verifiers(store, locked)?,
    };
    let verification = if vouched.passed(&verifiers) { "passed" } else { "none" };
    let signed_by = locked.signed_by.clone().or_else(|| publishers.into_iter().next());
    Ok(Vouched { signed_by, verification })
}

/// Whose reports about a package count: those that the index of its registry names. The index is checked
/// again, because anybody may have written the cache.
fn verifiers(store: Store<'_>, locked: &Locked) -> Result<Vec<PublicKey>, LoadError> {
    let (Some(Source::Registry(address)), Some(folder), Some(trust)) =
        (Source::parse(&locked.source), store.folder, store.trust)
    else {
        return Ok(Vec::new());
    };
    let Some(key) = trust.index_key(&address)? else { return Ok(Vec::new()) };
    let file = folder.join(INDEXES).join(index_file(&address));
    let line = regular::read_to_string(&file, MAX_INDEX).unwrap_or_default();
    let envelope = Envelope::parse(line.as_bytes()).ok().filter(|it| it.is_signed_by(&key));
    let document: Option<Value> = envelope
        .as_ref()
        .and_then(|envelope| serde_json::from_slice(envelope.payload(INDEX_TYPE)?).ok());
    let all = document.as_ref().and_then(|it| it.get("verifiers")?.as_array());
    let keys = all.into_iter().flatten().filter_map(|key| key.as_str()?.parse().ok());
    Ok(keys.collect())
}

fn unsigned(locked: &Locked, pinned: &str, signers: &Signers) -> LoadError {
    let (name, version) = (&locked.name, &locked.version);
    if pinned.starts_with(SIGSTORE) && !signers.has_root {
        let message = format!(
            "{name} {version} is signed by {pinned}, and this machine has no trust root to verify that"
        );
        let help = "name one in `config/policy.toml` of the runtime root: `[plugins]`, `sigstore = \
                    [\"/…/trusted_root.json\"]`";
        return LoadError::Untrusted { message, help: help.to_owned() };
    }
    let mut message = format!("{name} {version} is not signed by its publisher {pinned}");
    if let Some(why) = signers.refused.first() {
        message.push_str(&format!(": {why}"));
    }
    let help = "ask its publisher; to use it nevertheless, remove it and add it again".to_owned();
    LoadError::Untrusted { message, help }
}

/// A locked package is the one that the lock names.
pub(super) fn is_same(locked: &Locked, name: &str, version: &Version) -> Result<(), LoadError> {
    if locked.name == name && locked.version == *version {
        return Ok(());
    }
    let message = format!(
        "`opal.lock` has {} {}, and its files are of {name} {version}",
        locked.name, locked.version
    );
    Err(LoadError::Untrusted { message, help: "remove it, and add it again".to_owned() })
}
