//! The last line of an export: a signature over all lines before it.

use base64ct::{Base64, Encoding as _};
use opal_core::contract::Sign as _;
use serde_json::{Value, json};

use crate::domains::AUDIT;
use crate::keys::{PublicKey, SigningKey, verify};

/// The signature line of everything in `lines`, with its line feed.
#[must_use]
pub fn sign(lines: &[u8], key: &SigningKey) -> String {
    let signature = key.sign(&[AUDIT, lines].concat());
    let line = json!({
        "key": key.public().to_string(),
        "kind": "signature",
        "signature": Base64::encode_string(&signature),
    });
    format!("{line}\n")
}

/// Whose signature a file ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// Nobody's.
    None,
    By(PublicKey),
    /// It names a key, and is not of these lines.
    Wrong,
}

/// The lines of an export without the signature, and whose it is.
#[must_use]
pub fn check(file: &[u8]) -> (&[u8], Signed) {
    let end = file.strip_suffix(b"\n").unwrap_or(file).len();
    let start = file[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (lines, last) = (&file[..start], &file[start..end]);
    let Some(document) = serde_json::from_slice::<Value>(last).ok() else {
        return (file, Signed::None);
    };
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    if text("kind") != Some("signature") {
        return (file, Signed::None);
    }
    let key = text("key").and_then(|key| key.parse::<PublicKey>().ok());
    let signature = text("signature").and_then(|it| Base64::decode_vec(it).ok());
    let signature: Option<[u8; 64]> = signature.and_then(|it| it.try_into().ok());
    match (key, signature) {
        (Some(key), Some(signature)) if verify(&key, &signature, &[AUDIT, lines].concat()) => {
            (lines, Signed::By(key))
        }
        _ => (lines, Signed::Wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_noticed() {
        let key = SigningKey::generate();
        let lines = b"{\"kind\":\"run\"}\n{\"kind\":\"run\"}\n".to_vec();
        let whole = [&lines[..], sign(&lines, &key).as_bytes()].concat();
        assert_eq!(check(&whole), (&lines[..], Signed::By(key.public())));
        for at in 0..lines.len() {
            let mut other = whole.clone();
            other[at] ^= 1;
            assert_ne!(check(&other).1, Signed::By(key.public()), "{at}");
        }
        assert_eq!(check(&lines).1, Signed::None);
        assert_eq!(check(b"").1, Signed::None);
        // A signature of something else that begins with the same text is not one of these lines.
        assert_ne!(check(&whole[15..]).1, Signed::By(key.public()));
    }
}
