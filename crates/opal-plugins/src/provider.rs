//! Terraform providers: from `opal.mod` to decorators. The helper `opal-terraform` drives them.
//!
//! ```text
//! opal.mod ──wanted──▶ a program and its digest ──store──▶ its manifest ──catalog──▶ decorators
//! a call ──adapt──▶ bridge ──▶ opal-terraform ──▶ the provider, a process of its own
//! ```
//!
//! | what | where |
//! |---|---|
//! | which providers a project wants | [`wanted`] |
//! | how objects are identified in it | [`recipes`], checked in `identity` |
//! | those on this machine, and the manifests of those that were accepted | [`store`] |
//! | getting one from a registry or a mirror | [`fetch`] |
//! | decorators, each made when it is named | [`catalog`] |
//! | the helper, and one instance for each configuration | [`bridge`] |
//! | which variables of the environment a provider gets | `variables` |
//! | what may be deleted | [`deletion`] |
//! | objects of a state file as steps | [`adopt`] |
//! | what a provider is about to do, recorded before | `intent` |
//! | decorators as opal plans and runs them | `adapt`, what was found in `finding` |
//!
//! Nothing here starts a provider before somebody accepted its digest on this machine.

mod adapt;
pub mod adopt;
pub mod bridge;
pub mod catalog;
pub mod deletion;
pub mod fetch;
mod finding;
mod identity;
mod intent;
pub mod recipes;
pub mod store;
mod variables;
pub mod wanted;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use opal_core::contract::PluginRecord;
use opal_core::hash::Digest;

/// How plans and contracts call what runs a provider.
pub(crate) const ENGINE: &str = "terraform";

/// What counts for all providers of a project.
#[derive(Clone, Debug)]
pub struct ProjectSettings {
    /// The directory of its `opal.mod`: providers run there.
    pub directory: PathBuf,
    /// The `name` in it.
    pub name: Option<String>,
    pub recipes: recipes::ProjectRecipes,
}

/// A provider that a project uses.
#[derive(Debug)]
pub struct Provider {
    pub wanted: wanted::WantedProvider,
    pub project: ProjectSettings,
    /// The file that is executed, without symlinks.
    pub program: PathBuf,
    /// Of that file, or of all its files: what is accepted.
    pub digest: Digest,
    /// What tells the file apart from another one, or from itself after a change; none where its digest is
    /// not known yet.
    pub stamp: Option<String>,
    /// Where it comes from.
    pub origin: Installation,
    /// Where its manifest is.
    pub folder: PathBuf,
    /// Whether somebody accepted it here. It does not start before.
    is_accepted: AtomicBool,
}

/// Where a provider comes from.
#[derive(Clone, Debug)]
pub enum Installation {
    /// A file of the project.
    Local(String),
    /// A registry or a mirror.
    Registry {
        version: String,
        source: String,
        signed_by: Option<String>,
        /// Of its manifest; none before it was described.
        manifest: Option<Digest>,
        /// `h1:` of its files.
        h1: String,
    },
}

impl Provider {
    /// As people call it: `terraform/acme/box`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.wanted.key
    }

    /// The version; a local provider has none.
    #[must_use]
    pub fn version(&self) -> &str {
        match &self.origin {
            Installation::Local(_) => "local",
            Installation::Registry { version, .. } => version,
        }
    }

    /// As a contract records it: of a registry that of the manifest, which is the same on all platforms.
    #[must_use]
    pub fn checksum(&self) -> String {
        match &self.origin {
            Installation::Registry { manifest: Some(manifest), .. } => {
                format!("sha256:{}", manifest.hex())
            }
            _ => format!("sha256:{}", self.digest.hex()),
        }
    }

    /// What the helper checks before it starts it.
    fn hash(&self) -> String {
        match &self.origin {
            Installation::Local(_) => format!("sha256:{}", self.digest.hex()),
            Installation::Registry { h1, .. } => h1.clone(),
        }
    }

    fn signed_by(&self) -> Option<&str> {
        match &self.origin {
            Installation::Local(_) => None,
            Installation::Registry { signed_by, .. } => signed_by.as_deref(),
        }
    }

    /// How messages name it: `box local`.
    #[must_use]
    pub fn called(&self) -> String {
        format!("{} {}", self.wanted.segment, self.version())
    }

    /// Where it comes from: `local:bin/box`, `registry:registry.opentofu.org`.
    #[must_use]
    pub fn source(&self) -> String {
        match &self.origin {
            Installation::Local(path) => format!("local:{path}"),
            Installation::Registry { .. } => {
                let full = self.wanted.full_source();
                format!("registry:{}", full.split('/').next().unwrap_or(&full))
            }
        }
    }

    /// As a contract records it, for policies.
    #[must_use]
    pub fn record(&self) -> PluginRecord {
        PluginRecord {
            name: self.name().to_owned(),
            version: self.version().to_owned(),
            source: self.source(),
            verification: "none".to_owned(),
            signed_by: self.signed_by().map(str::to_owned),
            schema: None,
            checksum: Some(self.checksum()),
            engine: Some(ENGINE.to_owned()),
            capabilities: Vec::new(),
        }
    }

    /// From now on it may start.
    pub fn accept(&self) {
        self.is_accepted.store(true, Ordering::SeqCst);
    }

    fn may_start(&self) -> bool {
        self.is_accepted.load(Ordering::SeqCst)
    }
}
