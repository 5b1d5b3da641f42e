//! Reading the chain of contract records: whether records were edited or removed.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};

use opal_core::hash::{Algorithm, Digest};
use opal_files::regular;
use serde_json::Value;

use super::chain::{self, FILE, MAX_LINE_BYTES};
use crate::root::{Root, RootError};

/// A line of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// From 1.
    pub line: usize,
    /// When the record ended, in RFC 3339.
    pub at: String,
    pub digest: Digest,
    pub previous: Digest,
    /// `TARGET/RUN`.
    pub record: String,
    /// Where the record is, or was.
    pub folder: PathBuf,
    /// The line itself.
    pub raw: String,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub line: usize,
    /// None where the line does not say it.
    pub record: Option<String>,
    pub fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not a line of the chain.
    Malformed,
    /// The line before is another one than when this was written.
    Gap,
    RecordMissing,
    RecordChanged,
    /// What somebody signed about a contract is not what the signature is of.
    BadSignature,
    /// Something could not be read when it was exported.
    Damaged,
}

impl Fault {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Gap => "gap",
            Self::RecordMissing => "record_missing",
            Self::RecordChanged => "record_changed",
            Self::BadSignature => "bad_signature",
            Self::Damaged => "damaged",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Malformed,
            Self::Gap,
            Self::RecordMissing,
            Self::RecordChanged,
            Self::BadSignature,
            Self::Damaged,
        ];
        all.into_iter().find(|fault| fault.name() == name)
    }

    /// The fault, lower case and without a full stop.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Malformed => "not a line of the chain",
            Self::Gap => "a line before it was edited or removed",
            Self::RecordMissing => "the record was removed",
            Self::RecordChanged => "the record was edited",
            Self::BadSignature => "what a person signed was edited",
            Self::Damaged => {
                "it could not be read, or nobody has signed it, when the export was made"
            }
        }
    }
}

/// All lines of the chain, and what is wrong with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    pub entries: Vec<Entry>,
    pub findings: Vec<Finding>,
}

/// Reads the chain and holds every record against it. What the last lines said can be missing without a
/// trace.
pub fn read(root: &Root) -> Result<Chain, RootError> {
    let logs = root.path().join("logs");
    let path = logs.join(FILE);
    let failed = |error| RootError::of(&path, error);
    let file = match regular::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Chain::default()),
        Err(error) => return Err(failed(error)),
    };
    let mut reader = BufReader::new(file);
    let (mut chain, mut before) = (Chain::default(), Digest([0; 32]));
    for line in 1.. {
        let mut bytes = Vec::new();
        let mut limited = reader.by_ref().take(MAX_LINE_BYTES);
        if limited.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
            break;
        }
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let own = Algorithm::Sha256.digest(&[bytes]);
        match entry(&logs, line, bytes) {
            Some(entry) => {
                let faults = [
                    (entry.previous != before).then_some(Fault::Gap),
                    record_fault(&entry.folder, &entry.digest),
                ];
                for fault in faults.into_iter().flatten() {
                    let record = Some(entry.record.clone());
                    chain.findings.push(Finding { line, record, fault });
                }
                chain.entries.push(entry);
            }
            None => chain.findings.push(Finding { line, record: None, fault: Fault::Malformed }),
        }
        before = own;
    }
    Ok(chain)
}

/// What is wrong with lines of a chain that were taken out of it, one after the other.
#[must_use]
pub fn follow<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<Finding> {
    let (mut findings, mut before) = (Vec::new(), None);
    for (line, raw) in (1..).zip(lines) {
        let found = entry(Path::new(""), line, raw.as_bytes());
        let fault = match (&found, before) {
            (None, _) => Some(Fault::Malformed),
            (Some(entry), Some(before)) if entry.previous != before => Some(Fault::Gap),
            _ => None,
        };
        let record = found.map(|entry| entry.record);
        findings.extend(fault.map(|fault| Finding { line, record, fault }));
        before = Some(Algorithm::Sha256.digest(&[raw.as_bytes()]));
    }
    findings
}

fn record_fault(folder: &Path, digest: &Digest) -> Option<Fault> {
    match chain::digest(folder) {
        Ok(found) if found == *digest => None,
        Ok(_) => Some(Fault::RecordChanged),
        Err(_) if !folder.is_dir() => Some(Fault::RecordMissing),
        Err(_) => Some(Fault::RecordChanged),
    }
}

fn entry(logs: &Path, line: usize, bytes: &[u8]) -> Option<Entry> {
    let document: Value = serde_json::from_slice(bytes).ok()?;
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    let record = text("record")?;
    let names: Vec<Component<'_>> = Path::new(record).components().collect();
    // Nothing in a line leads anywhere else.
    let is_below = matches!(names[..], [Component::Normal(_), Component::Normal(_)]);
    is_below.then_some(())?;
    Some(Entry {
        line,
        at: text("at")?.to_owned(),
        digest: Digest::parse(text("digest")?)?,
        previous: Digest::parse(text("previous")?)?,
        record: record.to_owned(),
        folder: logs.join("run").join(record),
        raw: std::str::from_utf8(bytes).ok()?.to_owned(),
    })
}
