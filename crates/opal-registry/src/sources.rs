//! Where packages are: registries in files, on the web, in OCI registries, and git repositories.
//!
//! | what | where |
//! |---|---|
//! | documents of a static registry, from files or the web | `documents` |
//! | the same from an OCI registry | `oci` |
//! | names and passwords, each for one host | `credentials` |
//! | commits of git repositories | `git` |

pub(crate) mod credentials;
mod documents;
pub(crate) mod git;
pub(crate) mod oci;

use std::collections::BTreeMap;
use std::path::PathBuf;

use opal_core::Secret;
use opal_http::Transfer;
use serde_json::Value;

use crate::format::{PackageName, Sha256, VersionEntry, Versions};
use crate::refusal::Refusal;
use credentials::{From, Rule};

/// What is used to reach registries.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    pub(crate) transfer: Transfer,
    /// Of the user: proxies, `HOME`, `PATH`, those of ssh.
    pub(crate) variables: BTreeMap<String, Secret>,
    /// What the user says about hosts.
    pub(crate) credentials: Vec<credentials::Rule>,
    /// The directory of the project: `file:` may be relative to it.
    pub(crate) folder: PathBuf,
}

impl Reach {
    /// What `opal` sends: names of variables and rules for hosts, and their values one after the other.
    pub(crate) fn read<'t>(
        head: &Value,
        mut values: impl Iterator<Item = &'t str>,
    ) -> Option<Self> {
        let mut variables = BTreeMap::new();
        for name in head.get("variables")?.as_array()? {
            variables.insert(name.as_str()?.to_owned(), Secret::new(values.next()?));
        }
        let mut credentials = Vec::new();
        for rule in head.get("credentials")?.as_array()? {
            let host = rule.get("host")?.as_str()?.to_owned();
            let from = match rule.get("command").and_then(Value::as_str) {
                Some(line) => From::Command(line.to_owned()),
                None => From::Given(Secret::new(values.next()?)),
            };
            credentials.push(Rule { host, from });
        }
        let folder = head.get("folder")?.as_str()?.into();
        Some(Self { variables, credentials, folder, ..Self::default() })
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(Secret::expose).filter(|value| !value.is_empty())
    }
}

/// A registry of packages.
pub(crate) trait Registry {
    /// Every version of a package, and the digest of the document that says so; none where the registry
    /// does not have the package.
    fn versions(&self, name: &PackageName) -> Result<Option<(Versions, Option<Sha256>)>, Refusal>;

    /// The bytes of `plugin.tar.gz`, not checked yet.
    fn archive(&self, name: &PackageName, entry: &VersionEntry) -> Result<Vec<u8>, Refusal>;

    /// `statements.jsonl`.
    fn statements(
        &self,
        name: &PackageName,
        entry: &VersionEntry,
    ) -> Result<Option<Vec<u8>>, Refusal>;

    /// `index.json`; an OCI registry has none.
    fn index(&self) -> Result<Option<Vec<u8>>, Refusal>;
}

/// The registry at an address.
pub(crate) fn open<'a>(address: &str, reach: &'a Reach) -> Box<dyn Registry + 'a> {
    match address.strip_prefix("oci://") {
        Some(rest) => Box::new(oci::Oci::new(address, rest, reach)),
        None => Box::new(documents::Documents::new(address, reach)),
    }
}
