//! The two hash algorithms of plans, each with 256 bits.

use std::fmt;

use hmac::{KeyInit, Mac};
use sha2::Digest as _;
use subtle::ConstantTimeEq;

use crate::wiped::Wiped;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    #[default]
    Sha256,
    Blake3,
}

impl Algorithm {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Blake3 => "blake3",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Sha256, Self::Blake3].into_iter().find(|one| one.name() == name)
    }

    /// `sha256:…`.
    #[must_use]
    pub fn written(self, digest: &Digest) -> String {
        format!("{}:{}", self.name(), digest.hex())
    }

    /// The digest of all parts, one after the other.
    #[must_use]
    pub fn digest(self, parts: &[&[u8]]) -> Digest {
        let mut hasher = self.hasher();
        parts.iter().for_each(|part| hasher.update(part));
        hasher.finish()
    }

    /// HMAC-SHA-256, or keyed BLAKE3, over a row of parts, each as a little-endian `u64` length and its
    /// bytes. With the lengths no two rows have the same bytes.
    #[must_use]
    pub fn mac(self, key: &[u8; 32], parts: &[&[u8]]) -> Digest {
        let framed = parts.iter().flat_map(|part| {
            let length: [u8; 8] = (part.len() as u64).to_le_bytes();
            [length.to_vec(), part.to_vec()]
        });
        match self {
            Self::Sha256 => {
                let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key)
                    .expect("HMAC takes a key of any length");
                framed.for_each(|part| mac.update(&Wiped::new(part)));
                Digest(mac.finalize().into_bytes().into())
            }
            Self::Blake3 => {
                let mut hasher = blake3::Hasher::new_keyed(key);
                framed.for_each(|part| {
                    hasher.update(&Wiped::new(part));
                });
                Digest(*hasher.finalize().as_bytes())
            }
        }
    }

    /// For what is too long to be held in memory.
    #[must_use]
    pub fn hasher(self) -> Hasher {
        Hasher(match self {
            Self::Sha256 => State::Sha256(Box::new(sha2::Sha256::new())),
            Self::Blake3 => State::Blake3(Box::new(blake3::Hasher::new())),
        })
    }
}

/// A digest of parts that come one after the other.
#[derive(Debug)]
pub struct Hasher(State);

#[derive(Debug)]
enum State {
    Sha256(Box<sha2::Sha256>),
    Blake3(Box<blake3::Hasher>),
}

impl Hasher {
    pub fn update(&mut self, part: &[u8]) {
        match &mut self.0 {
            State::Sha256(hasher) => hasher.update(part),
            State::Blake3(hasher) => {
                hasher.update(part);
            }
        }
    }

    #[must_use]
    pub fn finish(self) -> Digest {
        match self.0 {
            State::Sha256(hasher) => Digest(hasher.finalize().into()),
            State::Blake3(hasher) => Digest(*hasher.finalize().as_bytes()),
        }
    }
}

/// 256 bits.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The first six digits, as views show them.
    #[must_use]
    pub fn short(&self) -> String {
        hex(&self.0[..3])
    }

    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    #[must_use]
    pub fn parse(hex: &str) -> Option<Self> {
        if hex.len() != 64 || !hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        {
            return None;
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(hex.get(2 * index..2 * index + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// In constant time, whatever is compared.
impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_algorithms() {
        let abc = Algorithm::Sha256.digest(&[b"a", b"bc"]);
        assert!(abc.hex().starts_with("ba7816bf8f01cfea"));
        assert_eq!(abc.short(), "ba7816");
        assert_eq!(Digest::parse(&abc.hex()), Some(abc));
        let abc = Algorithm::Blake3.digest(&[b"abc"]);
        assert!(abc.hex().starts_with("6437b3ac38465133"));
    }
}
