//! A Sigstore instance of our own: an authority that certifies identities, a transparency log, and a server of
//! timestamps. OpenSSL makes keys, certificates and signatures.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64ct::{Base64, Encoding as _};
use opal_core::hash::{Algorithm, Digest};
use serde_json::{Value, json};

use super::super::secure::run;
use crate::needs;

pub(super) const IDENTITY: &str = "https://git.example/acme/vault/release.yml@refs/heads/main";
pub(super) const ISSUER: &str = "https://token.git.example";

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const SINCE: &str = "2020-01-01T00:00:00Z";

/// What a signer is certified with.
#[derive(Clone, Copy)]
pub(super) struct Person<'a> {
    /// As OpenSSL writes names: `URI:…`, `email:…`; none where it is empty.
    pub(super) name: &'a str,
    pub(super) issuer: &'a str,
    pub(super) usage: &'a str,
}

impl Default for Person<'_> {
    fn default() -> Self {
        let name = "URI:https://git.example/acme/vault/release.yml@refs/heads/main";
        Self { name, issuer: ISSUER, usage: "codeSigning" }
    }
}

/// A certificate and its key.
pub(super) struct Signer {
    file: String,
}

pub(super) struct Authority {
    folder: tempfile::TempDir,
}

fn sha256(parts: &[&[u8]]) -> Digest {
    Algorithm::Sha256.digest(parts)
}

pub(super) fn base64(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

fn now() -> u64 {
    opal_session::clock::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

impl Authority {
    /// None where OpenSSL is missing.
    pub(super) fn new() -> Option<Self> {
        if !needs::program("openssl") {
            return None;
        }
        let authority = Self { folder: tempfile::tempdir().unwrap() };
        let place = authority.folder.path();
        let config = "[req]\ndistinguished_name = name\nprompt = no\n[name]\nCN = ours\n\
                      [ca]\nbasicConstraints = critical,CA:TRUE\nkeyUsage = critical,keyCertSign\n\
                      [tsa]\ndefault_tsa = own\n[own]\nserial = serial\ndefault_policy = 1.2.3.4\n\
                      digests = sha256\nsigner_digest = sha256\naccuracy = secs:1\n";
        fs::write(place.join("config"), config).unwrap();
        fs::write(place.join("serial"), "01\n").unwrap();
        for name in ["ca", "tsa-ca"] {
            authority.key(name);
            let (key, file) = (format!("{name}.key"), format!("{name}.pem"));
            let new = ["openssl", "req", "-x509", "-new", "-sha256", "-days", "9"];
            let more = ["-config", "config", "-extensions", "ca", "-key", &key, "-out", &file];
            run(place, &[&new[..], &more].concat());
        }
        authority.key("log");
        authority.certified("tsa", "tsa-ca", "extendedKeyUsage = critical,timeStamping\n");
        Some(authority)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn key(&self, name: &str) {
        let file = format!("{name}.key");
        let curve = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out"];
        run(self.folder.path(), &[&curve[..], &[&file]].concat());
    }

    /// A certificate for a new key.
    fn certified(&self, name: &str, by: &str, extensions: &str) {
        self.key(name);
        let place = self.folder.path();
        let usual = "basicConstraints = CA:FALSE\nkeyUsage = critical,digitalSignature\n";
        fs::write(place.join("extensions"), [usual, extensions].concat()).unwrap();
        let at = |end: &str| format!("{name}.{end}");
        let (key, request, file) = (at("key"), at("csr"), at("pem"));
        let (authority, own) = (format!("{by}.pem"), format!("{by}.key"));
        let ask = ["openssl", "req", "-new", "-sha256", "-config", "config"];
        run(place, &[&ask[..], &["-key", &key, "-out", &request]].concat());
        let sign = ["openssl", "x509", "-req", "-sha256", "-days", "1", "-in", &request];
        let with = ["-CA", &authority, "-CAkey", &own, "-CAcreateserial"];
        let out = ["-extfile", "extensions", "-out", &file];
        run(place, &[&sign[..], &with, &out].concat());
    }

    pub(super) fn signer(&self, file: &str, person: &Person<'_>) -> Signer {
        let mut extensions = format!("extendedKeyUsage = {}\n", person.usage);
        if !person.name.is_empty() {
            extensions.push_str(&format!("subjectAltName = critical,{}\n", person.name));
        }
        if !person.issuer.is_empty() {
            let issuer = person.issuer;
            extensions.push_str(&format!("1.3.6.1.4.1.57264.1.8 = ASN1:UTF8String:{issuer}\n"));
        }
        self.certified(file, "ca", &extensions);
        Signer { file: file.to_owned() }
    }

    /// A certificate, or the public half of a key, in DER.
    fn der(&self, name: &str, kind: &str) -> Vec<u8> {
        let (input, out) =
            (format!("{name}.{}", if kind == "x509" { "pem" } else { "key" }), "out");
        let line = match kind {
            "x509" => vec!["openssl", "x509", "-in", &input, "-outform", "DER", "-out", out],
            _ => vec!["openssl", "pkey", "-in", &input, "-pubout", "-outform", "DER", "-out", out],
        };
        run(self.folder.path(), &line);
        fs::read(self.file(out)).unwrap()
    }

    fn signed(&self, key: &str, bytes: &[u8]) -> Vec<u8> {
        fs::write(self.file("in"), bytes).unwrap();
        let key = format!("{key}.key");
        let line = ["openssl", "dgst", "-sha256", "-sign", &key, "-out", "out", "in"];
        run(self.folder.path(), &line);
        fs::read(self.file("out")).unwrap()
    }

    /// What users trust: the authority and the log, or the authority and the server of timestamps.
    pub(super) fn root(&self, has_log: bool) -> Value {
        let valid = json!({"start": SINCE});
        let chain = |names: &[&str]| {
            let one = |name: &&str| json!({"rawBytes": base64(&self.der(name, "x509"))});
            json!({"certificates": names.iter().map(one).collect::<Vec<_>>()})
        };
        let log = self.der("log", "pkey");
        let logs = json!([{
            "baseUrl": "https://log.example",
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": base64(&log),
                "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                "validFor": valid,
            },
            "logId": {"keyId": base64(&sha256(&[&log]).0)},
        }]);
        let stamps = json!([{"certChain": chain(&["tsa", "tsa-ca"]), "validFor": valid}]);
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": if has_log { logs } else { json!([]) },
            "certificateAuthorities": [{
                "uri": "https://authority.example",
                "certChain": chain(&["ca"]),
                "validFor": valid,
            }],
            "ctlogs": [],
            "timestampAuthorities": if has_log { json!([]) } else { stamps },
        })
    }

    /// The statement in an envelope with the signature of a signer, and that signature.
    fn envelope(&self, signer: &Signer, statement: &str) -> (Value, Vec<u8>) {
        let (length, kind) = (statement.len(), PAYLOAD_TYPE.len());
        let whole = format!("DSSEv1 {kind} {PAYLOAD_TYPE} {length} {statement}");
        let signature = self.signed(&signer.file, whole.as_bytes());
        let envelope = json!({
            "payloadType": PAYLOAD_TYPE,
            "payload": base64(statement.as_bytes()),
            "signatures": [{"sig": base64(&signature), "keyid": ""}],
        });
        (envelope, signature)
    }

    /// A bundle whose statement is in the log since a number of seconds after now.
    pub(super) fn bundle(&self, signer: &Signer, statement: &Value, after: i64) -> Value {
        let statement = statement.to_string();
        let (envelope, signature) = self.envelope(signer, &statement);
        let pem = fs::read(self.file(&format!("{}.pem", signer.file))).unwrap();
        let body = json!({
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": {"algorithm": "sha256", "value": "00".repeat(32)},
                "payloadHash": {
                    "algorithm": "sha256",
                    "value": sha256(&[statement.as_bytes()]).hex(),
                },
                "signatures": [{"signature": base64(&signature), "verifier": base64(&pem)}],
            },
        });
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": base64(&self.der(&signer.file, "x509"))},
                "tlogEntries": [self.entry(&body.to_string(), after)],
            },
            "dsseEnvelope": envelope,
        })
    }

    /// The first of two entries of the log, with its promise and its proof.
    fn entry(&self, body: &str, after: i64) -> Value {
        let id = sha256(&[&self.der("log", "pkey")]);
        let time = now().saturating_add_signed(after);
        let promise = json!({
            "body": base64(body.as_bytes()),
            "integratedTime": time,
            "logID": id.hex(),
            "logIndex": 0,
        });
        let promise = self.signed("log", promise.to_string().as_bytes());
        let leaf = |body: &[u8]| sha256(&[&[0], body]);
        let (own, other) = (leaf(body.as_bytes()), leaf(b"of somebody else"));
        let root = sha256(&[&[1], &own.0, &other.0]);
        let note = format!("log.example\n2\n{}\n", base64(&root.0));
        let signature = [&id.0[..4], &self.signed("log", note.as_bytes())].concat();
        json!({
            "logIndex": "0",
            "logId": {"keyId": base64(&id.0)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": time.to_string(),
            "inclusionPromise": {"signedEntryTimestamp": base64(&promise)},
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": base64(&root.0),
                "treeSize": "2",
                "hashes": [base64(&other.0)],
                "checkpoint": {
                    "envelope": format!("{note}\n\u{2014} log.example {}\n", base64(&signature)),
                },
            },
            "canonicalizedBody": base64(body.as_bytes()),
        })
    }

    /// A bundle that is in no log; the server of timestamps says when it was signed.
    pub(super) fn stamped(&self, signer: &Signer, statement: &Value) -> Value {
        let (envelope, signature) = self.envelope(signer, &statement.to_string());
        fs::write(self.file("in"), signature).unwrap();
        let place: &Path = self.folder.path();
        let ask = ["openssl", "ts", "-query", "-data", "in", "-sha256", "-cert", "-out", "query"];
        run(place, &ask);
        let reply = ["openssl", "ts", "-reply", "-config", "config", "-queryfile", "query"];
        let by = ["-signer", "tsa.pem", "-inkey", "tsa.key", "-out", "reply"];
        run(place, &[&reply[..], &by].concat());
        let stamp = base64(&fs::read(self.file("reply")).unwrap());
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": base64(&self.der(&signer.file, "x509"))},
                "tlogEntries": [],
                "timestampVerificationData": {"rfc3161Timestamps": [{"signedTimestamp": stamp}]},
            },
            "dsseEnvelope": envelope,
        })
    }
}
