//! What is said about an order after it was sent: events and claims of runners, and a stop of who sent it.
//!
//! The bytes of a message are its kind, one line that says about what it is, whose it is and its number, the
//! content, and a signature over everything before it.
//!
//! ```text
//! opal-event-v1⏎
//! ORDER SHARE ATTEMPT NUMBER ed25519:KEY⏎
//! content … 64 bytes of signature
//! ```

use opal_core::contract::Sign as _;

use crate::domains::{CLAIM, EVENT, STOP};
use crate::keys::{PublicKey, SigningKey, verify};
use crate::order::OrderId;

/// Bytes of a message.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

const SIGNATURE_BYTES: usize = 64;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What happened to a share.
    Event,
    /// Who works on a share, or how far all runners are.
    Claim,
    /// No further target may start.
    Stop,
}

/// A message about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub kind: Kind,
    pub order: OrderId,
    /// From 1; 0 where it is about the whole order.
    pub share: u32,
    /// Grows from one runner of a share to the next.
    pub attempt: u64,
    /// From 1 for each attempt, without a gap.
    pub number: u64,
    pub content: Vec<u8>,
}

impl Kind {
    const fn domain(self) -> &'static [u8] {
        match self {
            Self::Event => EVENT,
            Self::Claim => CLAIM,
            Self::Stop => STOP,
        }
    }
}

impl Message {
    #[must_use]
    pub fn sign(&self, key: &SigningKey) -> Vec<u8> {
        let mut bytes =
            [self.kind.domain(), self.head(&key.public()).as_bytes(), &self.content].concat();
        let signature = key.sign(&bytes);
        bytes.extend(signature);
        bytes
    }

    /// A message of this kind and whose signature it has; none where the signature does not hold. Whether
    /// that key counts, and whether it is about what was asked for, whoever asks decides.
    #[must_use]
    pub fn open(bytes: &[u8], kind: Kind) -> Option<(Self, PublicKey)> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let (signed, signature) = bytes.split_last_chunk::<SIGNATURE_BYTES>()?;
        let rest = signed.strip_prefix(kind.domain())?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(&rest[..end]).ok()?;
        let mut words = head.split(' ');
        let message = Self {
            kind,
            order: OrderId::parse(words.next()?)?,
            share: words.next()?.parse().ok()?,
            attempt: words.next()?.parse().ok()?,
            number: words.next()?.parse().ok()?,
            content: rest[end + 1..].to_vec(),
        };
        let key: PublicKey = words.next()?.parse().ok()?;
        // One spelling: no plus sign, no zero in front.
        let is_exact = message.head(&key).strip_suffix('\n') == Some(head);
        (is_exact && verify(&key, signature, signed)).then_some((message, key))
    }

    fn head(&self, key: &PublicKey) -> String {
        let Self { order, share, attempt, number, .. } = self;
        format!("{order} {share} {attempt} {number} {key}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: Kind) -> Message {
        let order = OrderId::draw();
        Message { kind, order, share: 3, attempt: 12, number: 1, content: b"{}\n\0\xff".to_vec() }
    }

    #[test]
    fn every_changed_byte_and_every_other_kind_is_noticed() {
        let key = SigningKey::generate();
        for kind in [Kind::Event, Kind::Claim, Kind::Stop] {
            let message = message(kind);
            let bytes = message.sign(&key);
            assert_eq!(Message::open(&bytes, kind), Some((message, key.public())));
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 1;
                assert_eq!(Message::open(&other, kind), None, "{at}");
                assert_eq!(Message::open(&bytes[..at], kind), None, "{at}");
            }
            assert_eq!(Message::open(&[&bytes[..], b"x"].concat(), kind), None);
            for other in [Kind::Event, Kind::Claim, Kind::Stop] {
                assert_eq!(Message::open(&bytes, other).is_some(), other == kind);
            }
        }
        let long = Message { content: vec![0; MAX_BYTES], ..message(Kind::Event) };
        assert_eq!(Message::open(&long.sign(&key), Kind::Event), None);
    }

    #[test]
    fn there_is_one_spelling() {
        let key = SigningKey::generate();
        let message = message(Kind::Event);
        let head = message.head(&key.public());
        for (from, to) in [(" 3 ", " +3 "), (" 12 ", " 012 "), (" 3 ", "  3 "), ("\n", " \n")] {
            let other = head.replacen(from, to, 1);
            assert_ne!(other, head);
            let mut bytes = [EVENT, other.as_bytes(), b"{}"].concat();
            let signature = key.sign(&bytes);
            bytes.extend(signature);
            assert_eq!(Message::open(&bytes, Kind::Event), None, "{other}");
        }
    }
}
