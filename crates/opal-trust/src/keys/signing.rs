//! Ed25519 signatures.

use std::fmt;
use std::str::FromStr;

use base64ct::{Base64, Encoding};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey, KeypairBytes};
use ed25519_dalek::{Signature, Signer, VerifyingKey};
use opal_core::contract::Sign;
use opal_core::wiped::Wiped;

use super::KeyError;
use super::error::KeyFault;

/// The private half. Dropping it wipes it.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

/// The public half, written `ed25519:BASE64`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

const PREFIX: &str = "ed25519:";

impl SigningKey {
    #[must_use]
    pub fn generate() -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(&super::fresh()))
    }

    /// Reads PKCS#8 in PEM form, as `openssl genpkey -algorithm ed25519` writes it.
    #[must_use]
    pub fn from_pem(text: &str) -> Option<Self> {
        ed25519_dalek::SigningKey::from_pkcs8_pem(text.trim_start()).ok().map(Self)
    }

    #[must_use]
    pub fn to_pem(&self) -> Wiped<String> {
        private_pem(self.0.as_bytes())
    }

    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }
}

impl Sign for SigningKey {
    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }
}

/// An Ed25519 private key as PKCS#8 without its public half: older OpenSSL reads only that.
pub(crate) fn private_pem(secret: &[u8; 32]) -> Wiped<String> {
    let pem = KeypairBytes { secret_key: *secret, public_key: None }.to_pkcs8_pem(LineEnding::LF);
    Wiped::new(std::mem::take(&mut *pem.expect("32 bytes have a PEM form")))
}

/// Whether `signature` is that of `public` over `bytes`. Strict: keys of small order and
/// signatures in more than one form count for nothing.
#[must_use]
pub fn verify(public: &PublicKey, signature: &[u8; 64], bytes: &[u8]) -> bool {
    VerifyingKey::from_bytes(&public.0)
        .and_then(|key| key.verify_strict(bytes, &Signature::from_bytes(signature)))
        .is_ok()
}

impl PublicKey {
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", Base64::encode_string(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut bytes = [0; 32];
        let decoded = text.strip_prefix(PREFIX).and_then(|rest| {
            let decoded = Base64::decode(rest, &mut bytes).ok()?;
            (decoded.len() == 32).then_some(())
        });
        let sound = decoded.is_some() && VerifyingKey::from_bytes(&bytes).is_ok();
        if !sound {
            return Err(KeyFault::InvalidPublicKey.into());
        }
        Ok(Self(bytes))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public())
    }
}
