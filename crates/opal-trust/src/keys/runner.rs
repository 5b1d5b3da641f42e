//! The key that makes a machine a runner.

use std::fmt;

use opal_core::placeholder::PlaceholderKey;
use opal_core::wiped::Wiped;

use super::credentials::{Credentials, KeyKind, KeyName};
use super::derive::derive;
use super::seal::Identity;
use super::{KeyError, KeyErrorKind, OpenError, Recipient};
use opal_vault::root::Root;

/// A key in age's format, with which envelopes are opened and from which placeholders and lasting
/// random values derive.
///
/// Everything is derived with HKDF from the text `AGE-SECRET-KEY-1…` in upper case: the root of
/// the placeholders under one label, the root of the lasting values under another.
#[derive(Clone)]
pub struct Runner {
    pub(super) identity: Identity,
    /// Why the key ends with this process, where it does.
    ephemeral: Option<String>,
}

impl Runner {
    /// The runner key of this machine, made at first need. Where it can neither be read nor made,
    /// one that ends with this process.
    ///
    /// A key that is damaged or that others could have read is an error: taking another one in
    /// silence would change every placeholder.
    pub fn of_machine(root: &Root) -> Result<Self, KeyError> {
        let credentials = Credentials::new(root);
        let name = KeyName::runner();
        let found = credentials.identity(&name).or_else(|error| match error.kind {
            KeyErrorKind::Missing => match credentials.create(&name, KeyKind::Seal) {
                Ok(_) => credentials.identity(&name),
                // Another process was quicker, and its key is the one.
                Err(error) if error.kind == KeyErrorKind::Exists => credentials.identity(&name),
                Err(error) => Err(error),
            },
            _ => Err(error),
        });
        match found {
            Ok(identity) => Ok(Self { identity, ephemeral: None }),
            Err(error) => match error.kind {
                KeyErrorKind::Unreachable | KeyErrorKind::Missing => {
                    Ok(Self::ephemeral(error.message))
                }
                _ => Err(error),
            },
        }
    }

    /// The runner key of this machine, where there is one that can be read. Nothing is made.
    pub fn known(root: &Root) -> Result<Option<Self>, KeyError> {
        match Credentials::new(root).identity(&KeyName::runner()) {
            Ok(identity) => Ok(Some(Self { identity, ephemeral: None })),
            Err(error) => match error.kind {
                KeyErrorKind::Missing | KeyErrorKind::Unreachable => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// A key that nobody has seen and that ends with this process.
    #[must_use]
    pub fn ephemeral(why: impl Into<String>) -> Self {
        Self { identity: Identity::generate(), ephemeral: Some(why.into()) }
    }

    /// The key of a text in the form of age's identity files.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        Some(Self { identity: Identity::parse(text)?, ephemeral: None })
    }

    /// Whether the key ends with this process.
    #[must_use]
    pub fn is_ephemeral(&self) -> bool {
        self.ephemeral.is_some()
    }

    /// Why the key ends with this process, for the view to say.
    #[must_use]
    pub fn why_ephemeral(&self) -> Option<&str> {
        self.ephemeral.as_deref()
    }

    #[must_use]
    pub fn recipient(&self) -> Recipient {
        self.identity.recipient()
    }

    /// What was sealed to it, at most `limit` bytes.
    pub fn unseal(&self, sealed: &[u8], limit: usize) -> Result<Wiped<Vec<u8>>, OpenError> {
        super::seal::open(sealed, &self.identity, limit).map_err(OpenError::from)
    }

    /// What placeholders of one target of one project are keyed with.
    #[must_use]
    pub fn placeholder_key(&self, project: &str, target: &str) -> PlaceholderKey {
        let root = self.root("opal placeholder root v1");
        let parts = [project.as_bytes(), target.as_bytes()];
        PlaceholderKey::new(*derive(&*root, "opal placeholder key v1", &parts))
    }

    /// What a random value with a `regen_key` comes from. `parameters` are those that
    /// [`crate::randomness::canonical_parameters`] writes.
    #[must_use]
    pub fn regen_subkey(
        &self,
        project: &str,
        decorator: &str,
        regen_key: &str,
        parameters: &[u8],
    ) -> Wiped<[u8; 32]> {
        let root = self.root("opal regen root v1");
        let parts = [project.as_bytes(), decorator.as_bytes(), regen_key.as_bytes(), parameters];
        derive(&*root, "opal regen key v1", &parts)
    }

    /// What entries of `@cached` are made with, for one use of it.
    #[must_use]
    pub(crate) fn cache_key(&self, label: &str) -> Wiped<[u8; 32]> {
        derive(&*self.root("opal cache root v1"), label, &[])
    }

    fn root(&self, label: &str) -> Wiped<[u8; 32]> {
        derive(self.identity.text().as_bytes(), label, &[])
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("recipient", &self.recipient())
            .field("ephemeral", &self.ephemeral)
            .finish_non_exhaustive()
    }
}
