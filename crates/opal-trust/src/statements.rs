//! What people vouch for: in-toto statements about a version of a package, each in an envelope on a line of
//! its own.
//!
//! | statement | predicate | who signs |
//! |---|---|---|
//! | this package is mine | SLSA provenance v1 | its publisher |
//! | this package passed `opal plugin verify` | in-toto test result v0.1 | a verifier of the registry |

use std::collections::BTreeSet;

use opal_core::data::{Data, json};
use opal_core::hash::Digest;
use serde_json::{Value, json};

use crate::dsse::Envelope;
use crate::keys::{PublicKey, SigningKey};

/// The type of the payload of every statement.
pub const STATEMENT_TYPE: &str = "application/vnd.in-toto+json";

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PROVENANCE: &str = "https://slsa.dev/provenance/v1";
const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";
const BUILD_TYPE: &str = "https://opal.dev/package/v1";

/// The digest of a package, beside that of its archive. In-toto lets anyone name an algorithm.
const PACKAGE_DIGEST: &str = "opalPackageV1";
const MAX_LINES: usize = 64;

/// A version of a package, whose bytes are known.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    pub name: &'a str,
    pub version: &'a str,
    /// As locks have it.
    pub checksum: Digest,
}

/// How a package came about, as far as its publisher says.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Of `plugin.tar.gz`, for tools that know nothing of packages.
    pub archive: Option<Digest>,
    /// Where its sources are, as its `opal.toml` says.
    pub repository: Option<String>,
    /// The git commit that has its files.
    pub commit: Option<String>,
    /// The version of opal that published it.
    pub opal: String,
}

/// What statements say about a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vouched {
    /// Whose provenance it has: `ed25519:…`.
    pub publishers: BTreeSet<PublicKey>,
    /// Who says that it passed, whether or not somebody believes them.
    pub passed_by: BTreeSet<PublicKey>,
}

impl Vouched {
    /// Whether one of these says that it passed.
    #[must_use]
    pub fn passed(&self, verifiers: &[PublicKey]) -> bool {
        verifiers.iter().any(|verifier| self.passed_by.contains(verifier))
    }
}

/// The line with which a publisher says: this is mine.
#[must_use]
pub fn provenance(subject: &Subject<'_>, origin: &Origin, key: &SigningKey) -> String {
    let mut subjects = vec![package(subject)];
    if let Some(archive) = origin.archive {
        subjects.push(json!({"name": "plugin.tar.gz", "digest": {"sha256": archive.hex()}}));
    }
    let mut source = serde_json::Map::new();
    if let Some(uri) = &origin.repository {
        source.insert("uri".to_owned(), json!(uri));
    }
    if let Some(commit) = &origin.commit {
        source.insert("digest".to_owned(), json!({"gitCommit": commit}));
    }
    let sources: Vec<Value> = (!source.is_empty()).then_some(source.into()).into_iter().collect();
    let document = json!({
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PROVENANCE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"name": subject.name, "version": subject.version},
                "internalParameters": {},
                "resolvedDependencies": sources,
            },
            "runDetails": {
                "builder": {"id": key.public().to_string(), "version": {"opal": origin.opal}},
                "metadata": {},
            },
        },
    });
    signed(&document, key)
}

/// The line with which a verifier says: it passed, and this is the report.
#[must_use]
pub fn passed(subject: &Subject<'_>, report: Digest, key: &SigningKey) -> String {
    let document = json!({
        "_type": STATEMENT,
        "subject": [package(subject)],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": "PASSED",
            "configuration": [{"name": "report.json", "digest": {"sha256": report.hex()}}],
        },
    });
    signed(&document, key)
}

fn package(subject: &Subject<'_>) -> Value {
    let digest = json!({PACKAGE_DIGEST: subject.checksum.hex()});
    json!({"name": format!("{}@{}", subject.name, subject.version), "digest": digest})
}

fn signed(document: &Value, key: &SigningKey) -> String {
    let mut envelope = Envelope::new(STATEMENT_TYPE, document.to_string().into_bytes());
    envelope.sign(key);
    envelope.to_line()
}

/// What the lines of a `statements.jsonl` say about a version. A line that is not understood, is about
/// something else, or is not signed, says nothing: anyone may add lines, and nobody can take one away from
/// what a lock has pinned.
#[must_use]
pub fn read(lines: &[u8], subject: &Subject<'_>) -> Vouched {
    let mut vouched = Vouched::default();
    for line in lines.split(|byte| *byte == b'\n').take(MAX_LINES) {
        let Ok(envelope) = Envelope::parse(line) else { continue };
        let Some(statement) = envelope.payload(STATEMENT_TYPE).and_then(statement) else {
            continue;
        };
        if !statement.is_about(subject) {
            continue;
        }
        match statement.claim {
            Claim::Provenance => vouched.publishers.extend(envelope.signers()),
            Claim::Passed => vouched.passed_by.extend(envelope.signers()),
        }
    }
    vouched
}

enum Claim {
    Provenance,
    Passed,
}

struct Statement {
    /// Each with its name and the digest of a package.
    subjects: Vec<(String, Digest)>,
    claim: Claim,
}

impl Statement {
    fn is_about(&self, subject: &Subject<'_>) -> bool {
        let name = format!("{}@{}", subject.name, subject.version);
        self.subjects.iter().any(|(it, digest)| *it == name && *digest == subject.checksum)
    }
}

fn statement(payload: &[u8]) -> Option<Statement> {
    let document = json::read(std::str::from_utf8(payload).ok()?).ok()?;
    let text = |path: &[&str]| member(&document, path).and_then(Data::as_text);
    if text(&["_type"])? != STATEMENT {
        return None;
    }
    let claim = match text(&["predicateType"])? {
        PROVENANCE if text(&["predicate", "buildDefinition", "buildType"])? == BUILD_TYPE => {
            Claim::Provenance
        }
        TEST_RESULT if text(&["predicate", "result"])? == "PASSED" => Claim::Passed,
        _ => return None,
    };
    let Data::Array(subjects) = member(&document, &["subject"])? else { return None };
    let subject = |it: &Data| {
        let name = member(it, &["name"])?.as_text()?.to_owned();
        let digest = member(it, &["digest", PACKAGE_DIGEST])?.as_text()?;
        Some((name, Digest::parse(digest)?))
    };
    Some(Statement { subjects: subjects.iter().filter_map(subject).collect(), claim })
}

fn member<'d>(data: &'d Data, path: &[&str]) -> Option<&'d Data> {
    path.iter().try_fold(data, |data, name| match data {
        Data::Map(map) => map.get(*name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(checksum: u8) -> Subject<'static> {
        Subject { name: "acme/vault", version: "1.2.0", checksum: Digest([checksum; 32]) }
    }

    fn origin() -> Origin {
        Origin {
            archive: Some(Digest([9; 32])),
            repository: Some("https://x.example/o/r".into()),
            ..Origin::default()
        }
    }

    #[test]
    fn a_publisher_and_a_verifier_are_different() {
        let (publisher, verifier) = (SigningKey::generate(), SigningKey::generate());
        let lines = provenance(&subject(1), &origin(), &publisher)
            + &passed(&subject(1), Digest([2; 32]), &verifier);
        let found = read(lines.as_bytes(), &subject(1));
        assert_eq!(found.publishers, BTreeSet::from([publisher.public()]));
        assert!(found.passed(&[verifier.public()]));
        assert!(!found.passed(&[publisher.public()]) && !found.passed(&[]));
    }

    /// Each would let somebody vouch for what another has not seen.
    #[test]
    fn a_statement_about_something_else_says_nothing() {
        let key = SigningKey::generate();
        let line = provenance(&subject(1), &origin(), &key);
        let nothing = Vouched::default();
        for (what, asked) in [
            ("another checksum", subject(2)),
            ("another version", Subject { version: "1.2.1", ..subject(1) }),
            ("another package", Subject { name: "acme/other", ..subject(1) }),
            ("the archive's digest", subject(9)),
        ] {
            assert_eq!(read(line.as_bytes(), &asked), nothing, "{what}");
        }
        let document = |change: &dyn Fn(&mut Value)| {
            let envelope = Envelope::parse(line.as_bytes()).unwrap();
            let payload = envelope.payload(STATEMENT_TYPE).unwrap();
            let mut document = serde_json::from_slice(payload).unwrap();
            change(&mut document);
            document
        };
        for (what, changed) in [
            ("another kind of statement", document(&|it| it["_type"] = "x".into())),
            ("another predicate", document(&|it| it["predicateType"] = "x".into())),
            (
                "provenance of something else",
                document(&|it| it["predicate"]["buildDefinition"]["buildType"] = "x".into()),
            ),
            ("no subject", document(&|it| it["subject"] = json!([]))),
        ] {
            assert_eq!(read(signed(&changed, &key).as_bytes(), &subject(1)), nothing, "{what}");
        }
        let failed = json!({
            "_type": STATEMENT, "subject": [package(&subject(1))],
            "predicateType": TEST_RESULT, "predicate": {"result": "FAILED"},
        });
        assert_eq!(read(signed(&failed, &key).as_bytes(), &subject(1)), nothing);
        let mut other_type =
            Envelope::new("application/json", document(&|_| {}).to_string().into());
        other_type.sign(&key);
        assert_eq!(read(other_type.to_line().as_bytes(), &subject(1)), nothing);
        let unsigned = Envelope::new(STATEMENT_TYPE, document(&|_| {}).to_string().into());
        assert_eq!(read(unsigned.to_line().as_bytes(), &subject(1)), nothing);
    }

    #[test]
    fn lines_of_others_do_not_hide_one_that_holds() {
        let key = SigningKey::generate();
        let line = provenance(&subject(1), &origin(), &key);
        let lines = format!("{{\"mediaType\":\"x\"}}\n\nnot json\n{line}");
        assert_eq!(read(lines.as_bytes(), &subject(1)).publishers.len(), 1);
    }
}
