//! What stands for a value that came from the world: `<32:sha256:a1b2c3>`.
//!
//! The digest is keyed, so that a value with few possibilities cannot be guessed from a plan.

use std::fmt;

use crate::data::Data;
use crate::hash::{Algorithm, Digest};
use crate::wiped::Wiped;

/// What placeholders are keyed with. It leaves the process only inside a sealed envelope.
#[derive(Clone)]
pub struct PlaceholderKey(Wiped<[u8; 32]>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Characters of the value as text.
    pub length: u32,
    pub algorithm: Algorithm,
    pub digest: Digest,
}

const DOMAIN: &[u8] = b"opal value v1";

impl PlaceholderKey {
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Wiped::new(bytes))
    }

    #[must_use]
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// A name for the key that tells nothing about it: the first eight bytes of its digest of
    /// the text `opal key id v1`.
    #[must_use]
    pub fn id(&self) -> String {
        self.mac(Algorithm::Sha256, &[b"opal key id v1"]).hex()[..16].to_owned()
    }

    /// The placeholder of a value that is known under `key`.
    ///
    /// The digest is HMAC-SHA-256, or keyed BLAKE3, over a row of parts, each as a little-endian
    /// `u64` length and its bytes: the text `opal value v1`, the key, the type's name, and the
    /// value's bytes as [`bytes`] writes them.
    #[must_use]
    pub fn placeholder(&self, algorithm: Algorithm, key: &str, data: &Data) -> Placeholder {
        let bytes = Wiped::new(bytes(data));
        let ty = type_name(data);
        let digest = self.mac(algorithm, &[DOMAIN, key.as_bytes(), ty.as_bytes(), &bytes]);
        Placeholder { length: length(data), algorithm, digest }
    }

    fn mac(&self, algorithm: Algorithm, parts: &[&[u8]]) -> Digest {
        algorithm.mac(&self.0, parts)
    }
}

fn type_name(data: &Data) -> &'static str {
    match data {
        Data::Null => "Null",
        Data::Bool(_) => "Bool",
        Data::Int(_) => "Int",
        Data::Float(_) => "Float",
        Data::Text(_) => "String",
        Data::Duration(_) => "Duration",
        Data::Array(_) => "Array",
        Data::Map(_) => "Map",
    }
}

/// A value's bytes: text as it is, numbers as the language writes them, the items of an Array and
/// the sorted keys and values of a Map as a length, a type and their own bytes.
#[must_use]
pub fn bytes(data: &Data) -> Vec<u8> {
    fn item(into: &mut Vec<u8>, part: &[u8]) {
        into.extend((part.len() as u64).to_le_bytes());
        into.extend(part);
    }
    let mut out = Vec::new();
    match data {
        Data::Array(items) => {
            for inner in items {
                item(&mut out, type_name(inner).as_bytes());
                item(&mut out, &bytes(inner));
            }
        }
        Data::Map(fields) => {
            for (key, inner) in fields {
                item(&mut out, key.as_bytes());
                item(&mut out, type_name(inner).as_bytes());
                item(&mut out, &bytes(inner));
            }
        }
        Data::Text(text) => out.extend(text.expose().as_bytes()),
        scalar => out.extend(scalar_text(scalar).as_bytes()),
    }
    out
}

/// A scalar as text of a command: `3`, `true`, `1m30s`. Collections have no text.
#[must_use]
pub fn scalar_text(data: &Data) -> Wiped<String> {
    Wiped::new(match data {
        Data::Null => "null".to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Int(value) => value.to_string(),
        Data::Float(value) => format!("{value:?}"),
        Data::Text(text) => text.expose().to_owned(),
        Data::Duration(value) => value.to_string(),
        Data::Array(_) | Data::Map(_) => String::new(),
    })
}

/// Characters of a scalar as text, items of a collection.
fn length(data: &Data) -> u32 {
    let count = match data {
        Data::Array(items) => items.len(),
        Data::Map(fields) => fields.len(),
        Data::Text(text) => text.characters(),
        scalar => scalar_text(scalar).chars().count(),
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}:{}:{}>", self.length, self.algorithm.name(), self.digest.short())
    }
}

impl fmt::Debug for PlaceholderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlaceholderKey({})", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_depends_on_the_key_the_name_the_type_and_the_value() {
        let key = PlaceholderKey::new([7; 32]);
        let text = Data::text("3");
        for algorithm in [Algorithm::Sha256, Algorithm::Blake3] {
            let one = key.placeholder(algorithm, "env.N", &text);
            assert_eq!(one, key.placeholder(algorithm, "env.N", &text));
            let others = [
                key.placeholder(algorithm, "env.M", &text),
                key.placeholder(algorithm, "env.N", &Data::Int(3)),
                key.placeholder(algorithm, "env.N", &Data::text("4")),
                PlaceholderKey::new([8; 32]).placeholder(algorithm, "env.N", &text),
            ];
            assert!(others.iter().all(|other| other.digest != one.digest));
            let shown = format!("<1:{}:{}>", algorithm.name(), one.digest.short());
            assert_eq!(one.to_string(), shown);
        }
    }
}
