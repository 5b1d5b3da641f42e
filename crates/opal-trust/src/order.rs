//! Orders: who sent a contract to which runners, and how its targets are divided into shares.
//!
//! An order is one line of canonical JSON: the order, whose key signed it, and the signature over the
//! order's bytes. A runner reads nothing else of a dispatched contract before it has checked this line.
//!
//! | what | where |
//! |---|---|
//! | the order, its limits, signing and checking | this file |
//! | its line: the only spelling that is read | [`line`] |
//! | why one is refused | [`Refused`] |

use std::collections::BTreeSet;
use std::fmt;

use base64ct::{Base64, Encoding as _};
use opal_core::contract::Sign as _;
use opal_core::hash::{Algorithm, Digest};
use opal_core::target::TargetName;

use crate::domains::ORDER;
use crate::keys::{PublicKey, Recipient, SigningKey, unguessable, verify};

mod line;
mod refused;

pub use refused::Refused;

/// Bytes of a line.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Targets of one order.
pub const MAX_TARGETS: usize = 10_000;

/// Targets of one share.
pub const MAX_SHARE: usize = 50;

/// Runners of one pool.
pub const MAX_RUNNERS: usize = 1_000;

/// How long an order may last.
pub const MAX_SECONDS: i64 = 30 * 24 * 3600;

/// How far an order may be dated in the future.
pub const SKEW_SECONDS: i64 = 5 * 60;

/// 128 random bits, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderId([u8; 16]);

/// A runner of a pool: its contracts are sealed to the one, its events are signed by the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerKeys {
    pub recipient: Recipient,
    pub key: PublicKey,
}

/// Targets that one runner takes at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The batch of the fleet that they belong to, from 1.
    pub batch: u32,
    /// Their names, in the order of the plan.
    pub targets: Vec<String>,
}

/// What is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub id: OrderId,
    /// SHA-256 of the contract's file.
    pub contract: Digest,
    /// SHA-256 of its approvals; none where there are none.
    pub approvals: Option<Digest>,
    /// SHA-256 of the archive of its sources.
    pub bundle: Digest,
    /// Where the contract's source is in that archive.
    pub source: String,
    pub pool: String,
    /// Who may take shares.
    pub runners: Vec<RunnerKeys>,
    /// To whom events are sealed, beside the runners.
    pub dispatcher: Recipient,
    /// In Unix seconds.
    pub made: i64,
    /// When it ends, in Unix seconds.
    pub end: i64,
    /// Whether the contract is used up by it.
    pub once: bool,
    /// All targets, in the order of the plan.
    pub shares: Vec<Share>,
}

/// An order and who signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub order: Order,
    pub signer: PublicKey,
    /// SHA-256 of the line.
    pub digest: Digest,
}

impl OrderId {
    /// One that nobody can guess.
    #[must_use]
    pub fn draw() -> Self {
        Self(unguessable())
    }

    #[must_use]
    pub fn parse(hex: &str) -> Option<Self> {
        let known = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if hex.len() != 32 || !hex.bytes().all(known) {
            return None;
        }
        u128::from_str_radix(hex, 16).ok().map(|number| Self(number.to_be_bytes()))
    }
}

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Order {
    /// The line, with its line feed.
    ///
    /// # Errors
    /// An order that nobody would accept.
    pub fn sign(&self, key: &SigningKey) -> Result<String, Refused> {
        self.check()?;
        let signature = Base64::encode_string(&key.sign(&self.signed()));
        let text = line::write(self, &key.public(), &signature);
        match text.len() <= MAX_BYTES {
            true => Ok(text),
            false => Err(Refused::TooLong),
        }
    }

    /// Reads a line, and accepts it where one of these keys signed it and it is valid `now`, in Unix
    /// seconds.
    ///
    /// # Errors
    /// Every other spelling, unknown and repeated members, what exceeds a limit, and orders that are not
    /// signed by one of these keys, past their end or dated in the future.
    pub fn open(bytes: &[u8], allowed: &BTreeSet<PublicKey>, now: i64) -> Result<Opened, Refused> {
        let (order, signer) = Self::signed_by(bytes)?;
        if !allowed.contains(&signer) {
            return Err(Refused::NotAllowed(signer));
        }
        if now >= order.end {
            return Err(Refused::Ended { end: order.end });
        }
        if order.made > now.saturating_add(SKEW_SECONDS) {
            return Err(Refused::InTheFuture { made: order.made });
        }
        Ok(Opened { order, signer, digest: Algorithm::Sha256.digest(&[bytes]) })
    }

    /// The order of a line and whose signature holds, whether or not they may give orders and whenever it is.
    ///
    /// # Errors
    /// As [`Self::open`], but for keys and time.
    pub fn signed_by(bytes: &[u8]) -> Result<(Self, PublicKey), Refused> {
        if bytes.len() > MAX_BYTES {
            return Err(Refused::TooLong);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Refused::NotAnOrder("it is not text"))?;
        let (order, signer, signature) = line::read(text)?;
        order.check()?;
        // One spelling only: a signature is of these bytes and of no others.
        if line::write(&order, &signer, &signature) != text {
            return Err(Refused::NotAnOrder("it is not in canonical form"));
        }
        let decoded = Base64::decode_vec(&signature).ok().and_then(|it| it.try_into().ok());
        let holds = |it: &[u8; 64]| verify(&signer, it, &order.signed());
        match decoded.as_ref().is_some_and(holds) {
            true => Ok((order, signer)),
            false => Err(Refused::Signature(signer)),
        }
    }

    /// A share by its number, from 1.
    #[must_use]
    pub fn share(&self, number: u32) -> Option<&Share> {
        self.shares.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// The numbers of the shares of a batch.
    pub fn batch(&self, batch: u32) -> impl Iterator<Item = u32> {
        (1..).zip(&self.shares).filter(move |(_, it)| it.batch == batch).map(|(number, _)| number)
    }

    /// The number of the last batch.
    #[must_use]
    pub fn batches(&self) -> u32 {
        self.shares.last().map_or(0, |share| share.batch)
    }

    /// All targets, in the order of the plan.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.shares.iter().flat_map(|share| share.targets.iter().map(String::as_str))
    }

    /// Whether this is the signing key of one of its runners.
    #[must_use]
    pub fn has_runner(&self, key: &PublicKey) -> bool {
        self.runners.iter().any(|runner| runner.key == *key)
    }

    fn signed(&self) -> Vec<u8> {
        [ORDER, line::order(self).as_bytes()].concat()
    }

    fn check(&self) -> Result<(), Refused> {
        let wrong = |what| Err(Refused::NotAnOrder(what));
        if !is_pool(&self.pool) {
            return wrong("`pool` is not the name of a pool");
        }
        if !is_path(&self.source) {
            return wrong("`source` is not a path inside an archive");
        }
        if self.runners.is_empty() || self.runners.len() > MAX_RUNNERS {
            return wrong("`runners` has none or more than 1,000");
        }
        let keys: BTreeSet<PublicKey> = self.runners.iter().map(|it| it.key).collect();
        if keys.len() != self.runners.len() {
            return wrong("`runners` has one twice");
        }
        if self.made < 0 || self.end <= self.made || self.end - self.made > MAX_SECONDS {
            return wrong("its end is not within 30 days of when it was made");
        }
        let (mut names, mut batch) = (BTreeSet::new(), 0);
        for share in &self.shares {
            if share.batch != batch && share.batch != batch + 1 || share.batch == 0 {
                return wrong("its batches are not in order");
            }
            batch = share.batch;
            if share.targets.is_empty() || share.targets.len() > MAX_SHARE {
                return wrong("a share has no target or more than 50");
            }
            if !share
                .targets
                .iter()
                .all(|name| name.parse::<TargetName>().is_ok() && names.insert(name))
            {
                return wrong("a target has an invalid name or is in it twice");
            }
        }
        if names.is_empty() || names.len() > MAX_TARGETS {
            return wrong("it has no target or more than 10,000");
        }
        Ok(())
    }
}

/// Whether a pool can have this name: it is part of subjects of the queue.
#[must_use]
pub fn is_pool(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&name.len()) && name.bytes().all(known)
}

/// Whether an archive can have a file of this name: no part of it leads elsewhere, whatever reads it.
#[must_use]
pub fn is_path(path: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._+@/-".contains(&byte);
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    path.len() <= 255 && path.bytes().all(known) && path.split('/').all(is_part)
}

#[cfg(test)]
mod tests;
