//! All checks of a package: record, signature, digests, lock; then its files.

use std::path::PathBuf;

use super::archive::{self, Unpacked};
use super::documents::{self, Record};
use super::source::{Platform, Source, Version};
use super::sums::Sums;
use super::{Rejected, dirhash, hex, publishers, signature};

/// What opal downloaded or has, and what it knows of it already.
#[derive(Clone, Debug)]
pub struct Open {
    pub source: Source,
    pub version: Version,
    pub platform: Platform,
    pub from: From,
    /// Locked ones, or those of the origin. The package must be one of them.
    pub hashes: Vec<String>,
    /// Who signed what is locked.
    pub signed_by: Option<String>,
    /// The person accepts another key, or a mirror that nothing vouches for.
    pub trust: bool,
    /// Seconds since 1970.
    pub now: u64,
    /// Where its files go; it does not exist yet.
    pub into: PathBuf,
}

#[derive(Clone, Debug)]
pub enum From {
    Registry {
        at: String,
        record: Vec<u8>,
        sums: Vec<u8>,
        signature: Vec<u8>,
        archive: PathBuf,
    },
    /// An archive of a mirror.
    Packed(PathBuf),
    /// A directory of a mirror.
    Unpacked(PathBuf),
}

/// A package that may be accepted.
#[derive(Clone, Debug)]
pub struct Opened {
    pub h1: String,
    /// `zh:` of all platforms that are signed, and `h1:` of this one; sorted.
    pub hashes: Vec<String>,
    pub signed_by: Option<String>,
    /// Nothing but the registry vouches for its key.
    pub is_first_use: bool,
    pub program: String,
}

/// Checks and unpacks.
pub fn open(ask: &Open) -> Result<Opened, Rejected> {
    let program = ask.source.program();
    match &ask.from {
        From::Registry { at, record, sums, signature, archive } => {
            let Open { source, version, platform, .. } = ask;
            let record = documents::record(record, at, source, version, platform)?;
            let (signed_by, is_first_use) = signer(ask, &record, sums, signature)?;
            let sums = Sums::read(sums)?;
            let listed = sums.digest(&source.archive(version, platform));
            if listed != Some(record.digest) {
                let why = "its download record has another digest than SHA256SUMS";
                return Err(Rejected::untrusted(why));
            }
            let (unpacked, zh) = packed(ask, archive, &program, Some(record.digest))?;
            let mut hashes = sums.hashes(&format!("{program}_{version}_"));
            hashes.extend([zh, unpacked.h1.clone()]);
            Ok(opened(unpacked, hashes, signed_by, is_first_use))
        }
        From::Packed(archive) => {
            let (unpacked, zh) = packed(ask, archive, &program, None)?;
            let hashes = vec![zh, unpacked.h1.clone()];
            Ok(opened(unpacked, hashes, ask.signed_by.clone(), false))
        }
        From::Unpacked(directory) => {
            let unpacked = archive::copy(directory, &ask.into, &program)?;
            keep_if(ask, unpacked, |_| false).map(|unpacked| {
                let hashes = vec![unpacked.h1.clone()];
                opened(unpacked, hashes, ask.signed_by.clone(), false)
            })
        }
    }
}

fn opened(
    unpacked: Unpacked,
    mut hashes: Vec<String>,
    signed_by: Option<String>,
    is_first_use: bool,
) -> Opened {
    hashes.sort();
    hashes.dedup();
    let Unpacked { h1, program } = unpacked;
    Opened { h1, hashes, signed_by, is_first_use, program }
}

/// Who signed, and whether nothing but the registry says that it is the publisher.
fn signer(
    ask: &Open,
    record: &Record,
    sums: &[u8],
    bytes: &[u8],
) -> Result<(Option<String>, bool), Rejected> {
    let known = publishers::key(&ask.source);
    let signed_by = match &record.keys[..] {
        [] => None,
        keys => Some(signature::verify(sums, bytes, keys, ask.now)?),
    };
    if known.is_some() && known != signed_by {
        let known = known.unwrap_or_default();
        let got = signed_by.as_deref().unwrap_or("nobody");
        let why = format!("it is signed by {got}, expected {known}, the key of its publisher");
        return Err(Rejected::untrusted(why));
    }
    match &ask.signed_by {
        Some(locked) if signed_by.as_ref() != Some(locked) && !ask.trust => {
            let got = signed_by.as_deref().unwrap_or("nobody");
            let why = format!("it is signed by {got}, and {locked} is locked");
            Err(Rejected::untrusted(why))
        }
        locked => Ok((signed_by, locked.is_none() && known.is_none())),
    }
}

/// An archive against its digest and the hashes that are known; then its files.
fn packed(
    ask: &Open,
    path: &std::path::Path,
    program: &str,
    listed: Option<[u8; 32]>,
) -> Result<(Unpacked, String), Rejected> {
    let failed = |error| Rejected::failed("the archive", &error);
    // Opened once: what is checked is what is unpacked.
    let archive = dirhash::open(path).map_err(failed)?;
    let digest = archive::digest(&archive)?;
    if listed.is_some_and(|listed| listed != digest) {
        return Err(Rejected::untrusted("the archive is not what SHA256SUMS lists"));
    }
    let zh = format!("zh:{}", hex(&digest));
    // A known digest of the archive decides before a byte of it is unpacked.
    let has_zh = ask.hashes.iter().any(|it| it.starts_with("zh:"));
    let has_h1 = ask.hashes.iter().any(|it| it.starts_with("h1:"));
    if has_zh && !has_h1 && !ask.hashes.contains(&zh) {
        return Err(other());
    }
    let unpacked = archive::unpack(archive, &ask.into, program)?;
    let is_vouched = listed.is_some() && ask.hashes.is_empty();
    let unpacked = keep_if(ask, unpacked, |hashes| is_vouched || hashes.contains(&zh))?;
    Ok((unpacked, zh))
}

fn other() -> Rejected {
    Rejected::untrusted("its files are not what is locked")
}

/// Keeps the files if they are known by a hash, or a person trusts them.
fn keep_if(
    ask: &Open,
    unpacked: Unpacked,
    is_known: impl Fn(&[String]) -> bool,
) -> Result<Unpacked, Rejected> {
    let is_known = is_known(&ask.hashes) || ask.hashes.contains(&unpacked.h1);
    // What is locked stays, whoever is trusted.
    if is_known || (ask.hashes.is_empty() && ask.trust) {
        return Ok(unpacked);
    }
    let _ = std::fs::remove_dir_all(&ask.into);
    if ask.hashes.is_empty() {
        return Err(Rejected::untrusted("nothing vouches for the files of the mirror"));
    }
    Err(other())
}
