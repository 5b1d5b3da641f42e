//! The key of a person who approves, and whether a signature is theirs.

use std::fmt;

use opal_core::contract::approval::{Approval, Statement};
use ssh_key::public::{Ed25519PublicKey, KeyData};
use ssh_key::{Algorithm, HashAlg, PublicKey as SshKey, SshSig};

use super::NAMESPACE;
use crate::keys::PublicKey;

/// The application of hardware keys that are meant for SSH.
const APPLICATION: &str = "ssh:";

/// Bit 0 of the flags that a hardware key signs: it was touched.
const TOUCHED: u8 = 1;

/// A public key that can approve: `ssh-ed25519` or `sk-ssh-ed25519@openssh.com`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signer(KeyData);

/// A statement whose signature holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub statement: Statement,
    pub signer: Signer,
    /// Whether a hardware key was touched for it.
    pub touched: bool,
}

/// Why a signature does not count, whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSignature {
    /// It is not an SSH signature.
    Format,
    /// Another version, hash or namespace, or something in the reserved field.
    Kind,
    /// Of a key that is neither of the two kinds, or a hardware key for something else than SSH.
    Key,
    /// It is not the signature of this statement.
    Wrong,
}

impl fmt::Display for BadSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => "not an SSH signature",
            Self::Kind => "the signature was made for something else",
            Self::Key => "the key is neither `ssh-ed25519` nor `sk-ssh-ed25519@openssh.com`",
            Self::Wrong => "the signature does not match the statement",
        })
    }
}

impl std::error::Error for BadSignature {}

impl Signer {
    /// A key and the name after it: `ssh-ed25519 AAAA… ann`, or `ed25519:… ann` of `opal keys`.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Self, Option<String>)> {
        let text = text.trim();
        if text.starts_with("ed25519:") {
            let (key, name) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            let key: PublicKey = key.parse().ok()?;
            return Some((Self::from(key), named(name)));
        }
        let key = SshKey::from_openssh(text).ok()?;
        // A certificate, another algorithm and an application of another program are all refused.
        let signer = Self::accepted(key.key_data())?;
        let name = text.splitn(3, char::is_whitespace).nth(2).unwrap_or_default();
        Some((signer, named(name)))
    }

    fn accepted(key: &KeyData) -> Option<Self> {
        let is_accepted = match key {
            KeyData::Ed25519(_) => true,
            KeyData::SkEd25519(key) => key.application() == APPLICATION,
            _ => false,
        };
        is_accepted.then(|| Self(key.clone()))
    }

    /// Whether the key is in a device that can be touched.
    #[must_use]
    pub fn is_hardware(&self) -> bool {
        matches!(self.0, KeyData::SkEd25519(_))
    }

    /// `SHA256:…`, as `ssh-keygen -l` prints it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }
}

fn named(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

impl From<PublicKey> for Signer {
    fn from(key: PublicKey) -> Self {
        Self(KeyData::Ed25519(Ed25519PublicKey(*key.as_bytes())))
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SshKey::from(self.0.clone()).to_openssh() {
            Ok(text) => f.write_str(text.trim()),
            Err(_) => f.write_str(&self.fingerprint()),
        }
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Checks the signature of a line. It says who signed; whether that counts is for the rules to say.
///
/// # Errors
/// Everything but version 1, `sha512`, an empty reserved field, exactly the namespace of approvals, and
/// a plain key of one of the two kinds.
pub fn check(approval: &Approval) -> Result<Checked, BadSignature> {
    let signature = SshSig::from_pem(&approval.signature).map_err(|_| BadSignature::Format)?;
    let is_ours = signature.version() == SshSig::VERSION
        && signature.hash_alg() == HashAlg::Sha512
        && signature.reserved().is_empty()
        && signature.namespace() == NAMESPACE;
    if !is_ours {
        return Err(BadSignature::Kind);
    }
    let signer = Signer::accepted(signature.public_key()).ok_or(BadSignature::Key)?;
    let key = SshKey::from(signer.0.clone());
    let bytes = approval.statement.bytes();
    key.verify(NAMESPACE, &bytes, &signature).map_err(|_| BadSignature::Wrong)?;
    let touched = signature.signature().algorithm() == Algorithm::SkEd25519
        && flags(signature.signature_bytes()) & TOUCHED != 0;
    Ok(Checked { statement: approval.statement.clone(), signer, touched })
}

/// The flags of a hardware key's signature: 64 bytes, the flags, and a counter of 4.
fn flags(signature: &[u8]) -> u8 {
    signature.get(64).copied().unwrap_or_default()
}
