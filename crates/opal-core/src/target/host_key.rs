//! The key by which a host is known.

use std::fmt;

/// A host key as contracts have it. Of a host certificate it is who signed it, and for which names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostKey {
    algorithm: String,
    identity: String,
}

impl HostKey {
    /// `algorithm` is a key type such as `ssh-ed25519`, `identity` a fingerprint such as `SHA256:…`;
    /// none where they are not.
    #[must_use]
    pub fn new(algorithm: &str, identity: &str) -> Option<Self> {
        // It becomes an option of `ssh`.
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-.@".contains(c);
        let is_algorithm = (1..=64).contains(&algorithm.len()) && algorithm.chars().all(is_word);
        let is_identity =
            (1..=4096).contains(&identity.len()) && !identity.contains(char::is_control);
        (is_algorithm && is_identity)
            .then(|| Self { algorithm: algorithm.to_owned(), identity: identity.to_owned() })
    }

    /// Reads what [`Self::to_text`] wrote; none where it is something else.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (algorithm, identity) = text.split_once(' ')?;
        Self::new(algorithm, identity)
    }

    /// The type and the identity, with a space between them, as contracts write it.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{} {}", self.algorithm, self.identity)
    }

    /// The type of the key.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// What tells it from every other key.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.identity)
    }
}
