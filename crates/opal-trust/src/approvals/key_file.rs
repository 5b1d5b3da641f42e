//! A file with a key of a person: what is known of it without its passphrase.

use ssh_key::PrivateKey;

use super::Signer;

/// A public or a private key, as `ssh-keygen` writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    pub signer: Signer,
    /// What follows the key: usually whose it is.
    pub comment: Option<String>,
    /// Whether whoever can read the file can sign with it: a private key without a passphrase that is not in
    /// a device.
    pub is_open: bool,
}

impl KeyFile {
    /// # Errors
    /// None for other kinds of keys.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if !text.trim_start().starts_with("-----BEGIN") {
            let (signer, comment) = Signer::parse(text.lines().next()?)?;
            return Some(Self { signer, comment, is_open: false });
        }
        let key = PrivateKey::from_openssh(text).ok()?;
        let public = key.public_key().to_openssh().ok()?;
        let (signer, comment) = Signer::parse(&public)?;
        let is_open = !key.is_encrypted() && !signer.is_hardware();
        Some(Self { signer, comment, is_open })
    }
}
