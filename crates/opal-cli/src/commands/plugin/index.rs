//! Signing the index of a registry. The helper writes it, and the key stays here: only the index that follows from
//! the last one by the change that this command makes gets a signature.

use opal_helper::Parcel;
use opal_trust::dsse::Envelope;
use opal_trust::keys::{PublicKey, SigningKey};
use serde_json::{Map, Value};

/// The only document that the helper may have signed.
const TYPE: &str = "application/vnd.opal.index.v1+json";
const FORMAT: &str = "opal-index-v1";

/// What a command changes about an index.
#[derive(Debug)]
pub(super) struct IndexChange {
    /// The package whose versions change.
    pub(super) package: Option<String>,
    /// Keys that become verifiers.
    pub(super) verifiers: Vec<String>,
    /// Seconds since 1970, and how many seconds the index holds.
    pub(super) now: u64,
    pub(super) period: u64,
    /// A directory of the author may have an index that nobody has signed yet.
    pub(super) may_be_unsigned: bool,
}

/// The answer to a helper that wants an index signed: nothing, where it is not the expected one.
pub(super) fn sign(question: &Parcel, key: &SigningKey, change: &IndexChange) -> Parcel {
    let asked = question.head.pointer("/asks/sign").and_then(Value::as_str);
    let (Some(TYPE), [payload, before]) = (asked, &question.blobs[..]) else {
        return Parcel::default();
    };
    match change.expects(before, payload, &key.public()) {
        Some(()) => {
            let mut envelope = Envelope::new(TYPE, payload.to_vec());
            envelope.sign(key);
            Parcel::default().with(envelope.to_line().as_bytes())
        }
        None => Parcel::default(),
    }
}

impl IndexChange {
    /// None where the new index says anything else than the last one and this change.
    fn expects(&self, before: &[u8], payload: &[u8], key: &PublicKey) -> Option<()> {
        let before = self.last(before, key)?;
        let mut new: Map<String, Value> = serde_json::from_slice(payload).ok()?;
        let mut take = |name: &str| new.remove(name);
        let number = before.get("number").map_or(Some(0), Value::as_u64)?;
        let is_next = take("format")? == FORMAT
            && take("number")? == number.checked_add(1)?
            && take("issued")? == self.now
            && take("expires")? == self.now.saturating_add(self.period);
        let mut verifiers = texts(before.get("verifiers"))?;
        verifiers.extend(self.verifiers.iter().map(String::as_str));
        let found = take("verifiers");
        let mut found = texts(found.as_ref())?;
        for all in [&mut verifiers, &mut found] {
            all.sort_unstable();
            all.dedup();
        }
        let packages = take("packages");
        let (old, new_packages) =
            (self.others(before.get("packages"))?, self.others(packages.as_ref())?);
        (is_next && verifiers == found && old == new_packages && new.is_empty()).then_some(())
    }

    /// The last index, as this key has signed it; empty where there is none.
    fn last(&self, before: &[u8], key: &PublicKey) -> Option<Map<String, Value>> {
        if before.is_empty() {
            return Some(Map::new());
        }
        let envelope = Envelope::parse(before).ok()?;
        let is_own = envelope.is_signed_by(key);
        let is_unsigned = self.may_be_unsigned && envelope.signers().is_empty();
        let payload = envelope.payload(TYPE).filter(|_| is_own || is_unsigned)?;
        serde_json::from_slice(payload).ok()
    }

    /// What an index says of packages that this command does not change.
    fn others<'v>(&self, packages: Option<&'v Value>) -> Option<Vec<&'v Value>> {
        let Some(packages) = packages else { return Some(Vec::new()) };
        let is_other =
            |it: &&Value| it.get("name").and_then(Value::as_str) != self.package.as_deref();
        Some(packages.as_array()?.iter().filter(is_other).collect())
    }
}

fn texts(all: Option<&Value>) -> Option<Vec<&str>> {
    let Some(all) = all else { return Some(Vec::new()) };
    all.as_array()?.iter().map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn index(number: u64) -> Value {
        json!({
            "format": FORMAT,
            "number": number,
            "issued": 100,
            "expires": 150,
            "verifiers": ["ed25519:a"],
            "packages": [{"name": "acme/one", "versions": "sha256:1"}, {"name": "acme/two", "versions": "sha256:2"}],
        })
    }

    fn signed(payload: &Value, key: Option<&SigningKey>) -> Vec<u8> {
        let mut envelope = Envelope::new(TYPE, payload.to_string().into_bytes());
        if let Some(key) = key {
            envelope.sign(key);
        }
        envelope.to_line().into_bytes()
    }

    fn is_signed(before: &[u8], new: &Value, key: &SigningKey, may_be_unsigned: bool) -> bool {
        let change = IndexChange {
            package: Some("acme/two".to_owned()),
            verifiers: vec!["ed25519:b".to_owned()],
            now: 200,
            period: 50,
            may_be_unsigned,
        };
        let question = Parcel::new(json!({"asks": {"sign": TYPE}}))
            .with(new.to_string().as_bytes())
            .with(before);
        !sign(&question, key, &change).blobs.is_empty()
    }

    #[test]
    fn only_the_index_that_follows_from_the_last_one_is_signed() {
        let key = SigningKey::generate();
        let last = signed(&index(7), Some(&key));
        let mut expected = index(8);
        expected["issued"] = json!(200);
        expected["expires"] = json!(250);
        expected["verifiers"] = json!(["ed25519:a", "ed25519:b"]);
        expected["packages"][1]["versions"] = json!("sha256:3");
        assert!(is_signed(&last, &expected, &key, false));
        let changed = |pointer: &str, value: Value| {
            let mut other = expected.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            other
        };
        let mut more = expected.clone();
        more["more"] = json!(1);
        for refused in [
            changed("/number", json!(7)),
            changed("/number", json!(9)),
            changed("/issued", json!(100)),
            changed("/expires", json!(9_999)),
            changed("/format", json!("opal-index-v2")),
            changed("/verifiers", json!(["ed25519:a", "ed25519:b", "ed25519:evil"])),
            changed("/verifiers", json!([])),
            changed("/packages/0/versions", json!("sha256:evil")),
            changed("/packages/0/name", json!("acme/evil")),
            changed("/packages", json!([])),
            more,
        ] {
            assert!(!is_signed(&last, &refused, &key, true), "{refused}");
        }
        // The last index must be the author's own.
        let other = signed(&index(7), Some(&SigningKey::generate()));
        assert!(!is_signed(&other, &expected, &key, true));
        assert!(!is_signed(b"", &expected, &key, true));
        let unsigned = signed(&index(7), None);
        assert!(!is_signed(&unsigned, &expected, &key, false));
        assert!(is_signed(&unsigned, &expected, &key, true));
    }
}
