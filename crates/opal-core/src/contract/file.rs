//! Writing the file.

use std::fmt;

use hmac::{KeyInit, Mac};

use super::Contract;
use super::error::{FormatError, Section};
use super::limits::MAX_BYTES;
use crate::hash::Algorithm;
use crate::plan::Plan;

pub(super) const MAGIC: [u8; 4] = *b"OPAL";
pub(super) const MAJOR: u16 = 1;
pub(super) const MINOR: u16 = 1;
pub(super) const HEADER_BYTES: usize = 96;

pub(super) const COMPRESSED: u16 = 1;
pub(super) const SIGNED: u16 = 1 << 1;
pub(super) const AUTHENTICATED: u16 = 1 << 2;
/// Flags that a newer minor version may use without changing what this one reads.
pub(super) const LATER: u16 = 0xff00;

pub(super) const ED25519: u8 = 0;
pub(super) const HMAC_SHA256: u8 = 1;
pub(super) const ED25519_BYTES: usize = 64;
pub(super) const HMAC_BYTES: usize = 32;

/// What a value needs in memory when it is read, beyond its bytes in the file.
pub(super) const VALUE_WEIGHT: usize = 768;

/// Fixed, so that the same contract gives the same bytes.
const LEVEL: i32 = 3;

/// What a file has besides its contract.
pub struct Encoding<'a> {
    /// One binary age file.
    pub envelope: &'a [u8],
    pub auth_key: &'a [u8; 32],
    /// Packs STEPS and VALUES; see [`Contract::is_worth_packing`].
    pub compress: bool,
    /// There if and only if [`super::Provenance::signer`] is.
    pub signer: Option<&'a dyn Sign>,
}

/// Signs with Ed25519.
pub trait Sign {
    fn sign(&self, bytes: &[u8]) -> [u8; 64];
}

impl fmt::Debug for Encoding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoding")
            .field("compress", &self.compress)
            .field("signed", &self.signer.is_some())
            .finish_non_exhaustive()
    }
}

/// The bytes of the file. The same contract and the same encoding give the same bytes; a contract
/// that was decoded gives those it came from.
pub fn encode(contract: &Contract, encoding: &Encoding<'_>) -> Result<Vec<u8>, FormatError> {
    let wire = &contract.wire;
    if encoding.signer.is_some() != contract.provenance.signer.is_some() {
        let reason = "PROVENANCE names a signer if and only if the file is signed";
        return Err(FormatError::unwritable(Section::Signature, reason));
    }
    let unpacked = wire.steps.len()
        + wire.values.len()
        + wire.provenance.len()
        + encoding.envelope.len()
        + contract.plan.target.name.len();
    if unpacked + OVERHEAD > MAX_BYTES {
        return Err(FormatError::too_large());
    }
    let mut out = Vec::with_capacity(unpacked + OVERHEAD);
    header(&mut out, contract, encoding);
    out.extend(target(&contract.plan.target.name));
    block(&mut out, encoding.envelope);
    if encoding.compress {
        let [steps, values] = match &wire.packed {
            Some(packed) => packed.clone(),
            None => [pack(&wire.steps)?, pack(&wire.values)?],
        };
        for (packed, raw) in [(steps, &wire.steps), (values, &wire.values)] {
            put_length(&mut out, packed.len());
            put_length(&mut out, raw.len());
            out.extend(packed);
            pad(&mut out);
        }
    } else {
        out.extend_from_slice(&wire.steps);
        out.extend_from_slice(&wire.values);
    }
    block(&mut out, &wire.provenance);
    out.extend_from_slice(&wire.records);
    let code = mac(encoding.auth_key, &out).finalize().into_bytes();
    record(&mut out, HMAC_SHA256, &code);
    if let Some(signer) = encoding.signer {
        let signature = signer.sign(&out);
        record(&mut out, ED25519, &signature);
    }
    if out.len() > MAX_BYTES {
        return Err(FormatError::too_large());
    }
    Ok(out)
}

/// Lengths, padding and the signature records: at most this, apart from unknown records.
const OVERHEAD: usize = 512;

fn header(out: &mut Vec<u8>, contract: &Contract, encoding: &Encoding<'_>) {
    let (plan, wire) = (&contract.plan, &contract.wire);
    let mut flags = wire.flags | AUTHENTICATED;
    flags |= if encoding.compress { COMPRESSED } else { 0 };
    flags |= if encoding.signer.is_some() { SIGNED } else { 0 };
    out.extend(MAGIC);
    for number in [MAJOR, wire.minor, flags] {
        out.extend(number.to_le_bytes());
    }
    const RESOLVED: u8 = 1;
    out.extend([RESOLVED, algorithm_byte(plan.algorithm)]);
    put_length(out, plan.steps.len());
    put_length(out, plan.values.len());
    put_length(out, wire.provenance.len());
    out.extend(contract.created.to_le_bytes());
    out.extend(plan.source_hash.0);
    out.extend(contract.plan_hash.0);
}

pub(super) fn algorithm_byte(algorithm: Algorithm) -> u8 {
    match algorithm {
        Algorithm::Sha256 => 0,
        Algorithm::Blake3 => 1,
    }
}

pub(super) fn mac(key: &[u8; 32], bytes: &[u8]) -> hmac::Hmac<sha2::Sha256> {
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key).expect("a key of any length");
    mac.update(bytes);
    mac
}

/// The section TARGET.
pub(super) fn target(name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 9);
    out.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend(name.as_bytes());
    pad(&mut out);
    out
}

/// The section VALUES, unpacked.
pub(super) fn values(plan: &Plan) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    for (key, value) in &plan.values {
        let unwritable = |reason: &str| {
            Err(FormatError::unwritable(Section::Values, format!("`{key}` {reason}")))
        };
        let Ok(length) = u16::try_from(key.len()) else {
            return unwritable("is longer than 65,535 bytes");
        };
        if value.placeholder.algorithm != plan.algorithm {
            return unwritable("was hashed with another algorithm");
        }
        out.extend(length.to_le_bytes());
        out.extend(key.as_bytes());
        out.extend(value.placeholder.length.to_le_bytes());
        out.push(algorithm_byte(plan.algorithm));
        out.extend(value.placeholder.digest.0);
        pad(&mut out);
    }
    Ok(out)
}

fn pack(raw: &[u8]) -> Result<Vec<u8>, FormatError> {
    zstd::bulk::compress(raw, LEVEL)
        .map_err(|error| FormatError::unwritable(Section::Steps, error.to_string()))
}

/// A length of 32 bits, the bytes, padding.
fn block(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
    pad(out);
}

fn record(out: &mut Vec<u8>, algorithm: u8, bytes: &[u8]) {
    out.push(algorithm);
    out.extend(u16::try_from(bytes.len()).expect("a record is short").to_le_bytes());
    out.extend_from_slice(bytes);
    pad(out);
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    let length = u32::try_from(length).expect("everything is shorter than MAX_BYTES");
    out.extend(length.to_le_bytes());
}

/// Zeros up to the next multiple of 8.
pub(super) fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}
