//! Whether a registry says what it said last: its index is signed, has a number that never falls, an expiry,
//! and the digest of every `versions.json`, so that nobody can hide a yank.

use opal_trust::dsse::Envelope;
use opal_trust::keys::PublicKey;

use crate::cache::Cache;
use crate::format::{INDEX_TYPE, Index, PackageName, Sha256};
use crate::refusal::Refusal;

const OWNER: &str = "ask the owner of the registry; nothing was changed";

/// The index of a registry whose key is known.
pub(crate) fn check(
    bytes: Option<Vec<u8>>,
    key: &PublicKey,
    address: &str,
    read_from: &str,
    cache: &Cache,
    now: u64,
) -> Result<Index, Refusal> {
    let refused = |why: &str| Refusal::untrusted(format!("the registry {read_from} {why}"), OWNER);
    let Some(bytes) = bytes else { return Err(refused("has no index, and a key is known for it")) };
    let payload = signed(&bytes, key)
        .ok_or_else(|| refused(&format!("has an index that is not signed by {key}")))?;
    let index = Index::parse(&payload).map_err(|error| Refusal::document(read_from, &error))?;
    if index.expires <= now {
        return Err(refused("has an index that has expired"));
    }
    let seen = cache.seen(address)?;
    if index.number < seen {
        let why = format!("has index {}, and this machine has seen {seen}", index.number);
        return Err(refused(&why));
    }
    if index.number > seen {
        cache.see(address, index.number)?;
    }
    Ok(index)
}

/// Whether an index lists exactly these versions of a package.
pub(crate) fn listed(
    index: &Index,
    name: &PackageName,
    digest: Option<Sha256>,
    read_from: &str,
) -> Result<(), Refusal> {
    let refused = |why: &str| Refusal::untrusted(format!("the registry {read_from} {why}"), OWNER);
    match index.get(name) {
        None => Err(refused(&format!("has {name}, which its index does not list"))),
        Some(entry) if Some(entry.versions) == digest => Ok(()),
        Some(_) => Err(refused(&format!("has other versions of {name} than its index lists"))),
    }
}

/// What is in an index, whoever signed it.
pub(crate) fn payload(bytes: &[u8]) -> Option<Vec<u8>> {
    Envelope::parse(bytes).ok()?.payload(INDEX_TYPE).map(<[u8]>::to_vec)
}

/// The same, where this key has signed it.
fn signed(bytes: &[u8], key: &PublicKey) -> Option<Vec<u8>> {
    let envelope = Envelope::parse(bytes).ok()?;
    envelope.payload(INDEX_TYPE).filter(|_| envelope.is_signed_by(key)).map(<[u8]>::to_vec)
}
