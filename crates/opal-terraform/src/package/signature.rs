//! The OpenPGP signature of a list of digests.
//!
//! Of a key only its own words count: the newest valid signature that it made about itself says until
//! when it is valid. What others certify about it is not read.

use std::io::Cursor;

use pgp::composed::{Deserializable as _, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::packet::{Signature, SignatureType};
use pgp::types::{KeyDetails, Tag, VerifyingKey};

use super::Rejected;

/// Documents, at most.
const MAX_KEY: usize = 1 << 20;
const MAX_SIGNATURE: usize = 64 << 10;

/// Why a key does not vouch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    /// Somebody else signed.
    Other,
    /// The signature is its own, and not of these bytes.
    Bytes,
    Expired,
    Revoked,
    /// It says nothing valid about itself.
    Unbound,
}

impl Unfit {
    const fn text(self) -> &'static str {
        match self {
            Self::Other => "SHA256SUMS is signed by none of the registry's keys",
            Self::Bytes => "the signature of SHA256SUMS is not valid",
            Self::Expired => "SHA256SUMS is signed by a key that has expired",
            Self::Revoked => "SHA256SUMS is signed by a key that was revoked",
            Self::Unbound => "SHA256SUMS is signed by a key without a valid signature of its own",
        }
    }
}

/// The fingerprint of the key that signed a document: `openpgp:FINGERPRINT`, of the primary key.
/// `now` is in seconds since 1970.
pub fn verify(
    document: &[u8],
    signature: &[u8],
    keys: &[String],
    now: u64,
) -> Result<String, Rejected> {
    let signature = read(signature)?;
    let mut worst = Unfit::Other;
    for armored in keys {
        if armored.len() > MAX_KEY {
            return Err(Rejected::invalid("a key of the registry is too long"));
        }
        let key = SignedPublicKey::from_string(armored);
        let (key, _) = key.map_err(|_| {
            Rejected::invalid("a key of the registry is not an armored OpenPGP key")
        })?;
        match vouches(&key, &signature, document, now) {
            Ok(()) => return Ok(fingerprint(&key)),
            Err(Unfit::Other) => {}
            Err(unfit) => worst = unfit,
        }
    }
    Err(Rejected::untrusted(worst.text()))
}

/// One signature of bytes, and nothing after it.
fn read(bytes: &[u8]) -> Result<Signature, Rejected> {
    let invalid = || Rejected::untrusted("the signature of SHA256SUMS is not an OpenPGP signature");
    if bytes.len() > MAX_SIGNATURE {
        return Err(invalid());
    }
    let mut all = DetachedSignature::from_bytes_many(Cursor::new(bytes)).map_err(|_| invalid())?;
    match (all.next(), all.next()) {
        (Some(Ok(one)), None) if one.signature.typ() == Some(SignatureType::Binary) => {
            Ok(one.signature)
        }
        _ => Err(invalid()),
    }
}

fn fingerprint(key: &SignedPublicKey) -> String {
    format!("openpgp:{}", super::hex(key.primary_key.fingerprint().as_bytes()).to_uppercase())
}

/// Whether a key, or one below it that may sign, made the signature.
fn vouches(
    key: &SignedPublicKey,
    signature: &Signature,
    document: &[u8],
    now: u64,
) -> Result<(), Unfit> {
    let primary = &key.primary_key;
    if names(signature, primary) {
        standing(key, now)?;
        return of_bytes(signature, primary, document, now);
    }
    let below = key.public_subkeys.iter().find(|it| names(signature, &it.key));
    let below = below.ok_or(Unfit::Other)?;
    standing(key, now)?;
    bound(key, below, now)?;
    of_bytes(signature, &below.key, document, now)
}

/// Whether a signature says that this key made it, and no other.
fn names(signature: &Signature, key: &impl KeyDetails) -> bool {
    let (ids, prints) = (signature.issuer_key_id(), signature.issuer_fingerprint());
    let any = !ids.is_empty() || !prints.is_empty();
    any && ids.iter().all(|id| **id == key.legacy_key_id())
        && prints.iter().all(|print| **print == key.fingerprint())
}

fn of_bytes(
    signature: &Signature,
    key: &impl VerifyingKey,
    document: &[u8],
    now: u64,
) -> Result<(), Unfit> {
    signature.verify(key, document).map_err(|_| Unfit::Bytes)?;
    let made = signature.created().map(|it| u64::from(it.as_secs())).ok_or(Unfit::Bytes)?;
    let lasts = signature.signature_expiration_time().map(|it| u64::from(it.as_secs()));
    match lasts {
        Some(lasts) if lasts != 0 && made + lasts <= now => Err(Unfit::Expired),
        // A day for clocks that differ.
        _ if made > now + 86_400 => Err(Unfit::Bytes),
        _ => Ok(()),
    }
}

/// Whether a primary key is valid now, by its own newest word.
fn standing(key: &SignedPublicKey, now: u64) -> Result<(), Unfit> {
    let primary = &key.primary_key;
    let details = &key.details;
    if details.revocation_signatures.iter().any(|it| it.verify_key(primary).is_ok()) {
        return Err(Unfit::Revoked);
    }
    let own = |it: &&Signature| names(it, primary);
    let direct = details.direct_signatures.iter().filter(own);
    let direct = direct.filter(|it| it.verify_key(primary).is_ok());
    let users = details.users.iter().flat_map(|user| {
        let certified = user.signatures.iter().filter(own);
        certified.filter(|it| {
            it.typ() != Some(SignatureType::CertRevocation)
                && it.verify_certification(primary, Tag::UserId, &user.id).is_ok()
        })
    });
    let newest = direct.chain(users).max_by_key(|it| it.created().map(|it| it.as_secs()));
    valid_until(newest, u64::from(primary.created_at().as_secs()), now)
}

fn valid_until(newest: Option<&Signature>, created: u64, now: u64) -> Result<(), Unfit> {
    let newest = newest.ok_or(Unfit::Unbound)?;
    let lasts = newest.key_expiration_time().map(|it| u64::from(it.as_secs()));
    match lasts {
        Some(lasts) if lasts != 0 && created + lasts <= now => Err(Unfit::Expired),
        _ => Ok(()),
    }
}

/// Whether a key below the primary one may sign, now, and says itself that it belongs there.
fn bound(key: &SignedPublicKey, below: &SignedPublicSubKey, now: u64) -> Result<(), Unfit> {
    let primary = &key.primary_key;
    let mine = |it: &&Signature| it.verify_subkey_binding(primary, &below.key).is_ok();
    let is = |kind| move |it: &&Signature| it.typ() == Some(kind);
    if below.signatures.iter().filter(is(SignatureType::SubkeyRevocation)).any(|it| mine(&it)) {
        return Err(Unfit::Revoked);
    }
    let bindings = below.signatures.iter().filter(is(SignatureType::SubkeyBinding)).filter(mine);
    let newest = bindings.max_by_key(|it| it.created().map(|it| it.as_secs()));
    let returned = newest.and_then(Signature::embedded_signature);
    let is_returned =
        returned.is_some_and(|it| it.verify_primary_key_binding(&below.key, primary).is_ok());
    if !newest.is_some_and(|it| it.key_flags().sign()) || !is_returned {
        return Err(Unfit::Unbound);
    }
    valid_until(newest, u64::from(below.key.created_at().as_secs()), now)
}
