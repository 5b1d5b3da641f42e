//! The outline of a file: where each section is, found by following lengths alone.
//!
//! Nothing is unpacked and no JSON is read before the file is known to be whole, so that code with
//! more to get wrong never sees bytes that someone changed.

use std::fmt;
use std::ops::Range;

use hmac::Mac;

use super::error::{FormatError, FormatErrorKind, Section};
use super::file::{
    AUTHENTICATED, COMPRESSED, ED25519, ED25519_BYTES, HEADER_BYTES, HMAC_BYTES, HMAC_SHA256,
    LATER, MAGIC, MAJOR, MINOR, SIGNED, mac,
};
use super::limits::{MAX_BYTES, MAX_TIME, QUICK};
use crate::hash::{Algorithm, Digest};

/// The first 96 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub minor: u16,
    pub flags: u16,
    pub algorithm: Algorithm,
    /// Steps on the top level.
    pub steps: u32,
    pub values: u32,
    pub provenance_bytes: u32,
    /// A Unix time.
    pub created: i64,
    pub source_hash: Digest,
    pub plan_hash: Digest,
}

impl Header {
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.flags & COMPRESSED != 0
    }

    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.flags & SIGNED != 0
    }

    /// Whether it was written by a version that knows more than this one.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        self.minor > MINOR
    }
}

/// A file that has the outline of a contract. What it says is not known to be true yet.
pub struct Frame<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) header: Header,
    target: &'a str,
    pub(super) target_section: Range<usize>,
    envelope: Range<usize>,
    pub(super) steps: Packable,
    pub(super) values: Packable,
    pub(super) provenance: Range<usize>,
    /// Signature records of unknown algorithms.
    pub(super) unknown_records: Range<usize>,
    code: Range<usize>,
    code_covers: usize,
    signature: Option<(Range<usize>, usize)>,
}

/// A section as it is, or packed with the length that it says it has when unpacked.
#[derive(Clone, Debug)]
pub(super) struct Packable {
    pub(super) place: Range<usize>,
    pub(super) raw_length: Option<usize>,
}

impl Packable {
    fn unpacked_length(&self) -> usize {
        self.raw_length.unwrap_or(self.place.len())
    }
}

impl<'a> Frame<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut cursor = Cursor { bytes, at: 0, section: Section::Header };
        if bytes.len() > MAX_BYTES {
            return cursor.fail(TOO_LONG);
        }
        let header = read_header(&mut cursor)?;
        cursor.section = Section::Target;
        let start = cursor.at;
        let length = cursor.u16()?;
        let name = cursor.range(length.into())?;
        let Ok(target) = std::str::from_utf8(&bytes[name.clone()]) else {
            return cursor.fail_at(name.start, "the target's name is not UTF-8");
        };
        cursor.padding()?;
        let target_section = start..cursor.at;
        cursor.section = Section::Envelope;
        let envelope = cursor.block()?;
        cursor.section = Section::Steps;
        let steps = if header.is_compressed() {
            cursor.packed()?
        } else {
            cursor.records(header.steps, |cursor| cursor.block().map(drop))?
        };
        cursor.section = Section::Values;
        let values = if header.is_compressed() {
            cursor.packed()?
        } else {
            cursor.records(header.values, |cursor| cursor.value().map(drop))?
        };
        let unpacked = bytes.len() - steps.place.len() - values.place.len()
            + steps.unpacked_length()
            + values.unpacked_length();
        if unpacked > MAX_BYTES {
            return cursor.fail(TOO_LONG);
        }
        cursor.section = Section::Provenance;
        let provenance = cursor.block()?;
        if provenance.len() != header.provenance_bytes as usize {
            return cursor
                .fail_at(provenance.start, "its length differs from the one in the header");
        }
        let records = read_records(&mut cursor, &header)?;
        Ok(Self {
            bytes,
            header,
            target,
            target_section,
            envelope,
            steps,
            values,
            provenance,
            unknown_records: records.unknown,
            code: records.code,
            code_covers: records.code_covers,
            signature: records.signature,
        })
    }

    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    #[must_use]
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// One binary age file, sealed.
    #[must_use]
    pub fn envelope(&self) -> &'a [u8] {
        &self.bytes[self.envelope.clone()]
    }

    /// Whether every byte is as it was written by someone who had `key`: all that precedes the
    /// authentication record is covered by it, in constant time.
    pub fn authenticate(&self, key: &[u8; 32]) -> Result<(), FormatError> {
        let mac = mac(key, &self.bytes[..self.code_covers]);
        mac.verify_slice(&self.bytes[self.code.clone()]).map_err(|_| {
            let reason = "the file was changed after it was made; ask for the original, or make \
                          a new plan";
            FormatError::at(Section::Signature, self.code_covers, reason)
        })
    }

    /// The Ed25519 signature and the bytes that it covers: all before its own record.
    #[must_use]
    pub fn ed25519(&self) -> Option<(&'a [u8; ED25519_BYTES], &'a [u8])> {
        let (signature, covers) = self.signature.clone()?;
        let signature = self.bytes[signature].first_chunk().expect("its length was checked");
        Some((signature, &self.bytes[..covers]))
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("header", &self.header)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

const TOO_LONG: &str = "more than 32 MiB unpacked";

fn read_header(cursor: &mut Cursor<'_>) -> Result<Header, FormatError> {
    if cursor.bytes.len() < HEADER_BYTES {
        return cursor.fail("the file is shorter than a header");
    }
    if cursor.array()? != MAGIC {
        return cursor.fail_at(0, "not a contract: the file does not begin with `OPAL`");
    }
    let (major, minor, flags) = (cursor.u16()?, cursor.u16()?, cursor.u16()?);
    if major != MAJOR {
        let reason = format!("unsupported format version {major}; this opal reads version {MAJOR}");
        let kind = FormatErrorKind::OtherVersion;
        return Err(FormatError { kind, ..FormatError::at(cursor.section, 4, reason) });
    }
    if flags & AUTHENTICATED == 0 {
        return cursor.fail_at(8, "missing authentication record");
    }
    let later = if minor > MINOR { LATER } else { 0 };
    if flags & !(COMPRESSED | SIGNED | AUTHENTICATED | later) != 0 {
        return cursor.fail_at(8, "unknown flag");
    }
    match cursor.u8()? {
        1 => {}
        0 => return cursor.fail_at(10, QUICK),
        other => return cursor.fail_at(10, format!("unknown mode {other}")),
    }
    let algorithm = cursor.algorithm()?;
    let (steps, values, provenance_bytes) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let created = i64::from_le_bytes(cursor.array()?);
    if !(0..=MAX_TIME).contains(&created) {
        return cursor.fail_at(24, "the time is not between 1970 and 9999");
    }
    let (source_hash, plan_hash) = (Digest(cursor.array()?), Digest(cursor.array()?));
    Ok(Header {
        minor,
        flags,
        algorithm,
        steps,
        values,
        provenance_bytes,
        created,
        source_hash,
        plan_hash,
    })
}

struct Records {
    unknown: Range<usize>,
    code: Range<usize>,
    code_covers: usize,
    signature: Option<(Range<usize>, usize)>,
}

/// Unknown records of a newer version are first, so that the authentication record covers them;
/// then that, then the signature.
fn read_records(cursor: &mut Cursor<'_>, header: &Header) -> Result<Records, FormatError> {
    cursor.section = Section::Signature;
    let first = cursor.at;
    let (code_covers, code) = loop {
        let start = cursor.at;
        let (algorithm, place) = cursor.record()?;
        match algorithm {
            HMAC_SHA256 if place.len() == HMAC_BYTES => break (start, place),
            HMAC_SHA256 | ED25519 => {
                return cursor.fail_at(start, "misplaced authentication record");
            }
            _ if header.is_newer() => {}
            _ => return cursor.fail_at(start, format!("unknown algorithm {algorithm}")),
        }
    };
    let covers = cursor.at;
    let signature = if header.is_signed() {
        match cursor.record()? {
            (ED25519, place) if place.len() == ED25519_BYTES => Some((place, covers)),
            _ => return cursor.fail_at(covers, "misplaced signature"),
        }
    } else {
        None
    };
    if cursor.at != cursor.bytes.len() {
        return cursor.fail("unexpected bytes after the end of the file");
    }
    Ok(Records { unknown: first..code_covers, code, code_covers, signature })
}

/// Follows lengths, and never beyond the end.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) section: Section,
}

impl Cursor<'_> {
    pub(super) fn fail<T>(&self, reason: impl Into<String>) -> Result<T, FormatError> {
        self.fail_at(self.at, reason)
    }

    pub(super) fn fail_at<T>(
        &self,
        offset: usize,
        reason: impl Into<String>,
    ) -> Result<T, FormatError> {
        Err(FormatError::at(self.section, offset, reason))
    }

    pub(super) fn range(&mut self, length: usize) -> Result<Range<usize>, FormatError> {
        if length > self.bytes.len() - self.at {
            return self.fail("unexpected end of file");
        }
        let start = self.at;
        self.at += length;
        Ok(start..self.at)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let place = self.range(N)?;
        Ok(*self.bytes[place].first_chunk().expect("the range has this length"))
    }

    fn u8(&mut self) -> Result<u8, FormatError> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, FormatError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, FormatError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn algorithm(&mut self) -> Result<Algorithm, FormatError> {
        match self.u8()? {
            0 => Ok(Algorithm::Sha256),
            1 => Ok(Algorithm::Blake3),
            other => self.fail_at(self.at - 1, format!("unknown hash algorithm {other}")),
        }
    }

    fn padding(&mut self) -> Result<(), FormatError> {
        let place = self.range(self.at.next_multiple_of(8) - self.at)?;
        match self.bytes[place.clone()].iter().position(|byte| *byte != 0) {
            None => Ok(()),
            Some(index) => self.fail_at(place.start + index, "the padding is not zero"),
        }
    }

    /// A length of 32 bits, the bytes, padding.
    pub(super) fn block(&mut self) -> Result<Range<usize>, FormatError> {
        let length = self.u32()?;
        let place = self.range(length as usize)?;
        self.padding()?;
        Ok(place)
    }

    fn packed(&mut self) -> Result<Packable, FormatError> {
        let (length, raw_length) = (self.u32()?, self.u32()? as usize);
        let place = self.range(length as usize)?;
        self.padding()?;
        if raw_length > MAX_BYTES {
            return self.fail_at(place.start - 4, TOO_LONG);
        }
        Ok(Packable { place, raw_length: Some(raw_length) })
    }

    fn records(
        &mut self,
        count: u32,
        mut one: impl FnMut(&mut Self) -> Result<(), FormatError>,
    ) -> Result<Packable, FormatError> {
        let start = self.at;
        for _ in 0..count {
            one(self)?;
        }
        Ok(Packable { place: start..self.at, raw_length: None })
    }

    /// A value: where its key is, and where what is known of it begins.
    pub(super) fn value(&mut self) -> Result<(Range<usize>, usize), FormatError> {
        let length = self.u16()?;
        let key = self.range(length.into())?;
        let rest = self.range(4 + 1 + 32)?;
        self.padding()?;
        Ok((key, rest.start))
    }

    fn record(&mut self) -> Result<(u8, Range<usize>), FormatError> {
        let algorithm = self.u8()?;
        let length = self.u16()?;
        let place = self.range(length.into())?;
        self.padding()?;
        Ok((algorithm, place))
    }
}
