//! What a contract carries for its runners only.

use std::collections::BTreeMap;
use std::fmt;

use opal_core::placeholder::PlaceholderKey;
use opal_core::wiped::Wiped;

use super::seal::{self, Unopened};
use super::{ContractSecret, Recipient, Runner};

/// Bytes of an envelope, sealed or not, that are ever read.
pub const MAX_ENVELOPE_BYTES: usize = 1024 * 1024;

const MAGIC: &[u8; 16] = b"opal envelope v1";

/// Secret, placeholder key and the keys of lasting random values.
///
/// The bytes that are sealed: the text `opal envelope v1`; 32 bytes of the contract's secret; 32
/// of the placeholder key; a little-endian `u32` with the number of lasting values; for each, in
/// the order of the names' bytes and no name twice, a little-endian `u16` length, the name in
/// UTF-8 and 32 bytes. Nothing follows. The seal is one binary age file.
#[derive(Clone)]
pub struct Envelope {
    pub secret: ContractSecret,
    pub placeholder_key: PlaceholderKey,
    /// By the name the plan knows the value under.
    pub regen: BTreeMap<String, Wiped<[u8; 32]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealError {
    /// The runner ends with this process and there is no other recipient.
    NobodyCouldOpen,
    TooLarge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// It was sealed to others.
    NotARecipient,
    /// It is not an age file, or not the one that was sealed.
    Damaged,
    /// It opens, and holds something else.
    WrongContent,
    TooLarge,
}

impl Envelope {
    /// Seals it to the runner and to `others`. A runner that ends with this process gets no copy:
    /// it could never come back for it.
    pub fn seal(&self, runner: &Runner, others: &[Recipient]) -> Result<Vec<u8>, SealError> {
        let mut recipients = Vec::new();
        let own = (!runner.is_ephemeral()).then(|| runner.recipient());
        for one in own.iter().chain(others) {
            if !recipients.contains(one) {
                recipients.push(one.clone());
            }
        }
        if recipients.is_empty() {
            return Err(SealError::NobodyCouldOpen);
        }
        let plain = self.bytes().ok_or(SealError::TooLarge)?;
        let sealed = seal::seal(&plain, &recipients)
            .expect("sealing to X25519 recipients in memory cannot fail");
        if sealed.len() > MAX_ENVELOPE_BYTES {
            return Err(SealError::TooLarge);
        }
        Ok(sealed)
    }

    pub fn open(sealed: &[u8], runner: &Runner) -> Result<Self, OpenError> {
        if sealed.len() > MAX_ENVELOPE_BYTES {
            return Err(OpenError::TooLarge);
        }
        let plain = seal::open(sealed, &runner.identity, MAX_ENVELOPE_BYTES)?;
        Self::read(&plain).ok_or(OpenError::WrongContent)
    }

    fn bytes(&self) -> Option<Wiped<Vec<u8>>> {
        let names: usize = self.regen.keys().map(|name| 2 + name.len() + 32).sum();
        let mut out = Wiped::new(Vec::with_capacity(MAGIC.len() + 64 + 4 + names));
        out.extend(MAGIC);
        out.extend(self.secret.expose());
        out.extend(self.placeholder_key.expose());
        out.extend(u32::try_from(self.regen.len()).ok()?.to_le_bytes());
        for (name, key) in &self.regen {
            out.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
            out.extend(name.as_bytes());
            out.extend(&**key);
        }
        Some(out)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let secret = ContractSecret::from_bytes(take(&mut rest)?);
        let placeholder_key = PlaceholderKey::new(*take(&mut rest)?);
        let count = u32::from_le_bytes(*take(&mut rest)?);
        let mut regen = BTreeMap::new();
        for _ in 0..count {
            let length = usize::from(u16::from_le_bytes(*take(&mut rest)?));
            let (name, after) = rest.split_at_checked(length)?;
            let name = std::str::from_utf8(name).ok()?.to_owned();
            rest = after;
            let sorted = regen.last_key_value().is_none_or(|(last, _)| *last < name);
            if !sorted {
                return None;
            }
            regen.insert(name, Wiped::new(*take(&mut rest)?));
        }
        rest.is_empty().then_some(Self { secret, placeholder_key, regen })
    }
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(head)
}

impl From<Unopened> for OpenError {
    fn from(why: Unopened) -> Self {
        match why {
            Unopened::NotARecipient => Self::NotARecipient,
            Unopened::Damaged => Self::Damaged,
        }
    }
}

impl SealError {
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::NobodyCouldOpen => {
                "seal it to a runner with `--recipient age1…`, or give a key with `--identity`"
            }
            Self::TooLarge => "use fewer random values with a `regen_key`, or fewer recipients",
        }
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NobodyCouldOpen => {
                "this machine has no runner key, so no one could open the contract"
            }
            Self::TooLarge => "the sealed part would be larger than 1 MiB",
        })
    }
}

impl std::error::Error for SealError {}

impl OpenError {
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::NotARecipient => {
                "make the contract with `--recipient` and this runner's `opal keys show`, or give \
                 the right key with `--identity`"
            }
            _ => "fetch the file again, or make a new contract",
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotARecipient => "it is not sealed to this runner",
            Self::Damaged => "its sealed part is damaged",
            Self::WrongContent => "its sealed part has unexpected content",
            Self::TooLarge => "its sealed part is larger than 1 MiB",
        })
    }
}

impl std::error::Error for OpenError {}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.regen.keys().collect();
        f.debug_struct("Envelope")
            .field("placeholder_key", &self.placeholder_key)
            .field("regen", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(names: &[&str]) -> Envelope {
        Envelope {
            secret: ContractSecret::from_bytes(&[1; 32]),
            placeholder_key: PlaceholderKey::new([2; 32]),
            regen: names.iter().map(|n| ((*n).to_owned(), Wiped::new([3; 32]))).collect(),
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let bytes = envelope(&["a"]).bytes().unwrap();
        let expected = [
            b"opal envelope v1".as_slice(),
            &[1; 32],
            &[2; 32],
            &[1, 0, 0, 0],
            &[1, 0],
            b"a",
            &[3; 32],
        ];
        assert_eq!(*bytes, expected.concat());
    }

    #[test]
    fn every_other_row_of_bytes_is_refused() {
        let bytes = envelope(&["a", "b"]).bytes().unwrap();
        assert!(Envelope::read(&bytes).is_some());
        for length in 0..bytes.len() {
            assert!(Envelope::read(&bytes[..length]).is_none(), "cut at {length}");
        }
        assert!(Envelope::read(&[&bytes[..], b"x"].concat()).is_none(), "trailing");
        let first = MAGIC.len() + 64 + 4 + 2;
        for (at, byte) in [(0, b'O'), (first, b'b'), (first, b'c'), (first, 0xff)] {
            let mut changed = bytes.to_vec();
            changed[at] = byte;
            assert!(Envelope::read(&changed).is_none(), "{at} {byte}");
        }
    }
}
