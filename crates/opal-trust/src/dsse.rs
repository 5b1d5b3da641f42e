//! Signed documents: DSSE envelopes with Ed25519 signatures. A signature is over the type and the bytes of
//! the payload, so a document of one type is never taken for one of another.

use std::fmt;

use base64ct::{Base64, Encoding as _};
use opal_core::contract::Sign as _;
use opal_core::data::{Data, json};

use crate::domains::DSSE;
use crate::keys::{PublicKey, SigningKey, verify};

/// Signatures of one envelope.
const MAX_SIGNATURES: usize = 16;

/// A document and who signed it. A signature counts only where it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    payload_type: String,
    payload: Vec<u8>,
    signatures: Vec<Signature>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Signature {
    /// The public key as `opal keys` writes it; others may write anything.
    key: String,
    bytes: Vec<u8>,
}

/// The bytes are not an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnEnvelope;

impl fmt::Display for NotAnEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a signed document (a DSSE envelope)")
    }
}

impl std::error::Error for NotAnEnvelope {}

impl Envelope {
    /// A document that nobody has signed yet.
    #[must_use]
    pub fn new(payload_type: &str, payload: Vec<u8>) -> Self {
        Self { payload_type: payload_type.to_owned(), payload, signatures: Vec::new() }
    }

    /// # Errors
    /// Unknown and repeated members, more than 16 signatures, and what is not base64.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAnEnvelope> {
        read(bytes).ok_or(NotAnEnvelope)
    }

    /// On one line.
    #[must_use]
    pub fn to_line(&self) -> String {
        let signature = |it: &Signature| serde_json::json!({"keyid": it.key, "sig": Base64::encode_string(&it.bytes)});
        let document = serde_json::json!({
            "payloadType": self.payload_type,
            "payload": Base64::encode_string(&self.payload),
            "signatures": self.signatures.iter().map(signature).collect::<Vec<_>>(),
        });
        format!("{document}\n")
    }

    pub fn sign(&mut self, key: &SigningKey) {
        let bytes = key.sign(&self.signed_bytes()).to_vec();
        self.signatures.push(Signature { key: key.public().to_string(), bytes });
    }

    /// The document, where it is of a type. Whoever reads it first asks who signed it.
    #[must_use]
    pub fn payload(&self, payload_type: &str) -> Option<&[u8]> {
        (self.payload_type == payload_type).then_some(self.payload.as_slice())
    }

    #[must_use]
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        let whole = self.signed_bytes();
        self.signatures.iter().any(|it| is_valid(it, key, &whole))
    }

    /// Every key whose signature holds.
    #[must_use]
    pub fn signers(&self) -> Vec<PublicKey> {
        let whole = self.signed_bytes();
        let holds = |it: &Signature| {
            let key: PublicKey = it.key.parse().ok()?;
            is_valid(it, &key, &whole).then_some(key)
        };
        let mut keys: Vec<PublicKey> = self.signatures.iter().filter_map(holds).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The pre-authentication encoding. Its first word is that of no other bytes that opal signs.
    fn signed_bytes(&self) -> Vec<u8> {
        let (kind, payload) = (&self.payload_type, &self.payload);
        let head = format!("{DSSE}{} {kind} {} ", kind.len(), payload.len());
        [head.as_bytes(), payload].concat()
    }
}

fn is_valid(signature: &Signature, key: &PublicKey, whole: &[u8]) -> bool {
    let bytes: Option<&[u8; 64]> = signature.bytes.as_slice().try_into().ok();
    bytes.is_some_and(|bytes| verify(key, bytes, whole))
}

fn read(bytes: &[u8]) -> Option<Envelope> {
    let document = json::read(std::str::from_utf8(bytes).ok()?).ok()?;
    let top = members(&document, &["payloadType", "payload", "signatures"])?;
    let Data::Array(signatures) = top[2]? else { return None };
    if signatures.len() > MAX_SIGNATURES {
        return None;
    }
    let signature = |it: &Data| {
        let members = members(it, &["keyid", "sig"])?;
        let key = members[0].map_or(Some(""), Data::as_text)?.to_owned();
        Some(Signature { key, bytes: Base64::decode_vec(members[1]?.as_text()?).ok()? })
    };
    Some(Envelope {
        payload_type: top[0]?.as_text()?.to_owned(),
        payload: Base64::decode_vec(top[1]?.as_text()?).ok()?,
        signatures: signatures.iter().map(signature).collect::<Option<_>>()?,
    })
}

/// The members of an object that has no others.
fn members<'d>(data: &'d Data, names: &[&str]) -> Option<Vec<Option<&'d Data>>> {
    let Data::Map(map) = data else { return None };
    let is_known = map.keys().all(|key| names.contains(&key.as_str()));
    is_known.then(|| names.iter().map(|name| map.get(*name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(key: &SigningKey) -> Envelope {
        let mut envelope = Envelope::new("text/plain", b"content".to_vec());
        envelope.sign(key);
        envelope
    }

    #[test]
    fn who_signed_is_known_and_comes_back() {
        let (one, other) = (SigningKey::generate(), SigningKey::generate());
        let mut envelope = signed(&one);
        envelope.sign(&other);
        envelope.sign(&other);
        let found = Envelope::parse(envelope.to_line().as_bytes()).unwrap();
        assert_eq!(found, envelope);
        let mut keys = vec![one.public(), other.public()];
        keys.sort_unstable();
        assert_eq!(found.signers(), keys);
        assert!(found.is_signed_by(&one.public()));
        assert!(!found.is_signed_by(&SigningKey::generate().public()));
        assert_eq!(found.payload("text/plain"), Some(&b"content"[..]));
        assert_eq!(found.payload("text/other"), None);
    }

    /// Each part changed: nobody has signed it.
    #[test]
    fn another_type_another_content_and_another_key_are_not_signed() {
        let (one, other) = (SigningKey::generate(), SigningKey::generate());
        let line = signed(&one).to_line();
        let public = one.public().to_string();
        for (from, to) in [
            ("text/plain", "text/plaim"),
            ("Y29udGVudA==", "Y29udGVudB=="),
            ("Y29udGVudA==", "Y29udGVu"),
            (&public, &other.public().to_string()),
        ] {
            assert!(line.contains(from));
            let changed = Envelope::parse(line.replace(from, to).as_bytes());
            assert!(changed.is_err() || changed.unwrap().signers().is_empty(), "{from} {to}");
        }
        // The name of a key says nothing: the key that is asked for counts.
        let renamed = Envelope::parse(line.replace(&public, "x").as_bytes()).unwrap();
        assert!(renamed.is_signed_by(&one.public()) && renamed.signers().is_empty());
    }

    /// The bytes are those of the specification, computed by hand from its example.
    #[test]
    fn the_signed_bytes_are_those_of_the_specification() {
        let envelope = Envelope::new("http://example.com/HelloWorld", b"hello world".to_vec());
        let expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world";
        assert_eq!(envelope.signed_bytes(), expected);
    }

    #[test]
    fn what_is_not_an_envelope_is_refused() {
        let line = signed(&SigningKey::generate()).to_line();
        let many = "{\"sig\":\"AA==\"},".repeat(MAX_SIGNATURES + 1);
        for (what, text) in [
            ("nothing", String::new()),
            ("a list", "[]".to_owned()),
            ("no payload", line.replace("\"payload\"", "\"other\"")),
            ("an unknown member", line.replacen('{', "{\"x\":1,", 1)),
            ("a member twice", line.replacen('{', "{\"payload\":\"\",", 1)),
            ("not base64", line.replace("Y29udGVudA==", "Y29udGVudA=")),
            ("a number as signature", line.replace("\"sig\":\"", "\"sig\":1,\"keyid\":\"")),
            ("too many", line.replacen("\"signatures\":[", &format!("\"signatures\":[{many}"), 1)),
            ("more after it", format!("{line}{line}")),
        ] {
            assert!(Envelope::parse(text.as_bytes()).is_err(), "{what}");
        }
    }
}
