//! What a person says about a contract: a line of its own, beside the contract's file.
//!
//! A line is canonical JSON: a statement, and the signature over the statement's bytes. Whoever reads
//! one gets back the bytes that were signed, since there is one spelling only. Whether the signature
//! holds, and whose counts, is decided elsewhere.

use std::fmt;

use super::json::Writer;
use super::json::read::{Read, Reader};
use crate::hash::{Algorithm, Digest};

/// Bytes of a line.
pub const MAX_LINE_BYTES: usize = 16 * 1024;

/// Characters of a note.
pub const MAX_NOTE: usize = 1000;

/// The version of statements.
const VERSION: i64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    Approve,
    Reject,
}

impl Decision {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

/// What is signed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    pub decision: Decision,
    /// SHA-256 of the bytes of the contract's file.
    pub contract: Digest,
    pub algorithm: Algorithm,
    pub plan_hash: Digest,
    pub target: String,
    /// In Unix seconds.
    pub at: i64,
    pub note: Option<String>,
    /// The contract whose differences were shown; none where the whole plan was.
    pub compared: Option<Digest>,
}

/// A statement and its signature, an armoured SSHSIG.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Approval {
    pub statement: Statement,
    pub signature: String,
}

/// Why a line is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnApproval(Box<str>);

impl fmt::Display for NotAnApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an approval: {}", self.0)
    }
}

impl std::error::Error for NotAnApproval {}

impl Statement {
    /// What is signed.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut json = Writer::default();
        self.write(&mut json);
        json.out
    }

    fn write(&self, json: &mut Writer) {
        json.open(b'{');
        json.plain_key("at");
        json.int(self.at);
        json.plain_key("compared");
        match &self.compared {
            Some(compared) => json.string(&compared.hex()),
            None => json.null(),
        }
        json.plain_key("contract");
        json.string(&self.contract.hex());
        json.plain_key("decision");
        json.string(self.decision.name());
        json.plain_key("note");
        match &self.note {
            Some(note) => json.string(note),
            None => json.null(),
        }
        json.plain_key("plan_hash");
        json.string(&format!("{}:{}", self.algorithm.name(), self.plan_hash.hex()));
        json.plain_key("target");
        json.string(&self.target);
        json.plain_key("v");
        json.int(VERSION);
        json.close(b'}');
    }

    fn read(reader: &mut Reader<'_>) -> Read<Self> {
        let mut found = Fields::default();
        reader.object(|r, name| {
            match name {
                "at" => found.at = Some(r.int()?),
                "compared" => {
                    found.compared = Some(optional(r, Reader::digest)?);
                }
                "contract" => found.contract = Some(r.digest()?),
                "decision" => {
                    found.decision = Some(match &*r.string()? {
                        "approve" => Decision::Approve,
                        "reject" => Decision::Reject,
                        _ => return r.fault("`decision` is neither `approve` nor `reject`"),
                    });
                }
                "note" => {
                    found.note = Some(optional(r, |r| Ok(r.string()?.into_owned()))?);
                }
                "plan_hash" => found.plan_hash = Some(hash(r)?),
                "target" => found.target = Some(r.string()?.into_owned()),
                "v" if r.int()? == VERSION => found.version = Some(()),
                "v" => return r.fault("the version is not 1"),
                other => return r.fault(format!("unknown member `{other}`")),
            }
            Ok(())
        })?;
        let note = found.note.as_ref().and_then(Option::as_ref);
        if note.is_some_and(|note| note.chars().count() > MAX_NOTE) {
            return reader.fault(format!("the note has more than {MAX_NOTE} characters"));
        }
        found.whole().map_or_else(|| reader.fault("a member is missing"), Ok)
    }
}

/// What has been read of a statement.
#[derive(Default)]
struct Fields {
    decision: Option<Decision>,
    contract: Option<Digest>,
    plan_hash: Option<(Algorithm, Digest)>,
    target: Option<String>,
    at: Option<i64>,
    note: Option<Option<String>>,
    compared: Option<Option<Digest>>,
    version: Option<()>,
}

impl Fields {
    fn whole(self) -> Option<Statement> {
        let (algorithm, plan_hash) = self.plan_hash?;
        self.version?;
        Some(Statement {
            decision: self.decision?,
            contract: self.contract?,
            algorithm,
            plan_hash,
            target: self.target?,
            at: self.at?,
            note: self.note?,
            compared: self.compared?,
        })
    }
}

fn optional<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Read<T>,
) -> Read<Option<T>> {
    if reader.peek() == Some(b'n') {
        return reader.null().map(|()| None);
    }
    read(reader).map(Some)
}

/// `sha256:` and 64 digits.
fn hash(reader: &mut Reader<'_>) -> Read<(Algorithm, Digest)> {
    let text = reader.string()?;
    let parts = text
        .split_once(':')
        .and_then(|(name, digits)| Some((Algorithm::named(name)?, Digest::parse(digits)?)));
    parts.map_or_else(|| reader.fault("`plan_hash` is not a hash"), Ok)
}

impl Approval {
    /// With its line feed.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut json = Writer::default();
        json.open(b'{');
        json.plain_key("signature");
        json.string(&self.signature);
        json.plain_key("statement");
        self.statement.write(&mut json);
        json.close(b'}');
        json.out.push(b'\n');
        String::from_utf8(json.out).expect("the writer writes text")
    }

    /// # Errors
    /// Every spelling but the one that [`Self::to_line`] writes, unknown and missing members.
    pub fn parse(line: &str) -> Result<Self, NotAnApproval> {
        if line.len() > MAX_LINE_BYTES {
            return Err(NotAnApproval("the line is too long".into()));
        }
        let mut reader = Reader::new(line, false, MAX_LINE_BYTES);
        let (mut signature, mut statement) = (None, None);
        let read = reader.object(|r, name| {
            match name {
                "signature" => signature = Some(r.string()?.into_owned()),
                "statement" => statement = Some(Statement::read(r)?),
                other => return r.fault(format!("unknown member `{other}`")),
            }
            Ok(())
        });
        read.and_then(|()| reader.end()).map_err(|fault| NotAnApproval(fault.reason))?;
        match (signature, statement) {
            (Some(signature), Some(statement)) => Ok(Self { statement, signature }),
            _ => Err(NotAnApproval("a member is missing".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval() -> Approval {
        Approval {
            statement: Statement {
                decision: Decision::Approve,
                contract: Digest([7; 32]),
                algorithm: Algorithm::Sha256,
                plan_hash: Digest([9; 32]),
                target: "deploy".into(),
                at: 1_700_000_000,
                note: Some("a \"note\"\n".into()),
                compared: None,
            },
            signature: "-----BEGIN SSH SIGNATURE-----\nAAAA\n".into(),
        }
    }

    #[test]
    fn a_line_is_read_back_as_it_was_written() {
        let approval = approval();
        let line = approval.to_line();
        assert_eq!(Approval::parse(line.trim_end()), Ok(approval.clone()));
        let signed = String::from_utf8(approval.statement.bytes()).unwrap();
        assert!(line.ends_with(&format!("\"statement\":{signed}}}\n")));
    }

    #[test]
    fn every_other_spelling_is_refused() {
        let line = approval().to_line().trim_end().to_owned();
        for (from, to) in [
            ("{\"signature\"", "{ \"signature\""),
            ("\"at\":1700000000", "\"at\":1700000000,\"at\":1700000000"),
            ("\"at\":1700000000", "\"at\":1.7e9"),
            ("\"v\":1", "\"v\":1,\"x\":1"),
            ("\"v\":1", "\"v\":2"),
            ("\"decision\":\"approve\"", "\"decision\":\"allow\""),
            ("\"decision\":\"approve\",", ""),
            ("deploy", "\\u0064eploy"),
            ("sha256:", "sha1:"),
            ("\"compared\":null,", ""),
            ("}}", "}}\n{}"),
        ] {
            let other = line.replacen(from, to, 1);
            assert_ne!(other, line, "{from}");
            assert!(Approval::parse(&other).is_err(), "{other}");
        }
        let long = Approval { signature: "A".repeat(MAX_LINE_BYTES), ..approval() };
        assert!(Approval::parse(long.to_line().trim_end()).is_err());
    }
}
