//! The packages of a project, read and checked against each other, and their decorators.
//!
//! | what | where |
//! |---|---|
//! | reading them | [`Installed::all`] |
//! | the lock | [`Installed::agree`], [`Installed::lock`] |
//! | the decorators | [`registry`] |
//! | whether one may be used here | `judge` |
//! | where its files are, and who vouches for them | [`Store`], `vouch` |
//! | what its code does | `wire` |

mod bundles;
mod error;
mod judge;
mod needs;
mod receivers;
mod registry;
mod store;
mod vouch;
pub(crate) mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use opal_core::Registry;
use opal_core::decorator::{Descriptor, Expansion, Plugin};
use opal_core::hash::Digest;
use semver::Version;

use crate::address::Source;
use crate::capability::Capability;
use crate::lock::{Lock, Locked};
use crate::manifest::{Body, Manifest};
use crate::package::Package;
use crate::project::Wanted;
use crate::verified;

pub use bundles::{SIGSTORE, Signers, Trust};
pub use error::LoadError;
pub use judge::{NotAllowed, allowed};
pub use registry::registry;
pub use store::{Store, kept};
pub use vouch::{INDEXES, STATEMENTS, index_file};

/// A package of a project.
#[derive(Debug)]
pub struct Installed {
    pub wanted: Wanted,
    /// As the user knows it: from where the files of the project are named.
    pub shown: PathBuf,
    /// Without symlinks.
    pub directory: PathBuf,
    pub checksum: Digest,
    pub manifest: Manifest,
    /// As `opal.lock` says it.
    pub origin: Source,
    /// Who signed it.
    pub signed_by: Option<String>,
    /// `passed`, `local-only` or `none`; where it is only shown, [`UNCHECKED`].
    pub verification: &'static str,
    purpose: Purpose,
    package: Package,
}

/// What a package is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Use,
    /// Its decorators are shown, and nothing of it runs.
    Show,
}

/// The verification of a package that is only shown.
pub const UNCHECKED: &str = "not checked";

impl Installed {
    /// The packages that a project wants, and those that they need; `folder` is that of its `opal.mod`,
    /// `core` the version of opal.
    pub fn all(
        folder: &Path,
        mut wanted: Vec<Wanted>,
        store: Store<'_>,
        built_in: &Registry,
        core: &Version,
    ) -> Result<Vec<Self>, LoadError> {
        wanted.extend(store.needed(&wanted));
        let mut all = Vec::new();
        for one in wanted {
            all.push(Self::read(folder, one, store, built_in, core)?);
        }
        needs::check(&all)?;
        Ok(all)
    }

    /// The same for whoever only shows decorators: those that can be read, and why others cannot. Nothing of
    /// them may run: their code is left out, and what only a helper can verify is not verified.
    pub fn described(
        folder: &Path,
        mut wanted: Vec<Wanted>,
        store: Store<'_>,
        built_in: &Registry,
        core: &Version,
    ) -> (Vec<Self>, Option<LoadError>) {
        wanted.extend(store.needed(&wanted));
        let (mut all, mut first) = (Vec::new(), None);
        for one in wanted {
            match Self::read_for(Purpose::Show, folder, one, store, (built_in, core)) {
                Ok(one) => all.push(one),
                Err(error) => first = first.or(Some(error)),
            }
        }
        // What is missing has been said; what contradicts itself has no decorators.
        if let (None, Err(error)) = (&first, needs::check(&all)) {
            return (Vec::new(), Some(error));
        }
        (all, first)
    }

    /// One package.
    pub fn read(
        folder: &Path,
        wanted: Wanted,
        store: Store<'_>,
        built_in: &Registry,
        core: &Version,
    ) -> Result<Self, LoadError> {
        Self::read_for(Purpose::Use, folder, wanted, store, (built_in, core))
    }

    fn read_for(
        purpose: Purpose,
        folder: &Path,
        wanted: Wanted,
        store: Store<'_>,
        (built_in, core): (&Registry, &Version),
    ) -> Result<Self, LoadError> {
        let key = wanted.key.clone();
        let locked = store.locked(&wanted)?;
        let shown = match locked {
            Some(locked) => store.directory(locked)?,
            None => folder.join(key.strip_prefix("./").unwrap_or(&key)),
        };
        let Ok(directory) = shown.canonicalize() else { return Err(LoadError::Missing { key }) };
        let package = Package::read(&directory)
            .map_err(|why| LoadError::Package { key: key.clone(), why })?;
        // Before anything of it is understood.
        let checksum = package.checksum();
        if let Some(locked) = locked.filter(|locked| locked.checksum != Some(checksum)) {
            let (name, version) = (&locked.name, &locked.version);
            return Err(LoadError::Untrusted {
                message: format!("{name} {version} is not what was locked: its files have changed"),
                help: format!("remove `{}`, and run `opal plugin install`", shown.display()),
            });
        }
        let manifest = Manifest::read(&package, built_in)
            .map_err(|faulty| LoadError::Manifest { directory: shown.clone(), faulty })?;
        needs::fits(&wanted, &manifest, built_in, core)?;
        let (origin, vouched) = match locked {
            Some(locked) => {
                let description = &manifest.description;
                vouch::is_same(locked, &description.name, &description.version)?;
                let origin = Source::parse(&locked.source).unwrap_or(Source::Local(key));
                (origin, vouch::read(store, locked, &directory, purpose)?)
            }
            None => (Source::Local(key), vouch::Vouched::default()),
        };
        let vouch::Vouched { signed_by, verification } = vouched;
        let is_verified = || store.root.is_some_and(|root| verified::has(root, &checksum));
        let verification = match (purpose, verification) {
            (Purpose::Show, _) => UNCHECKED,
            (Purpose::Use, "none") if is_verified() => "local-only",
            (Purpose::Use, said) => said,
        };
        Ok(Self {
            wanted,
            shown,
            directory,
            checksum,
            manifest,
            origin,
            signed_by,
            verification,
            purpose,
            package,
        })
    }

    #[must_use]
    pub const fn package(&self) -> &Package {
        &self.package
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.description.name
    }

    #[must_use]
    pub fn version(&self) -> &Version {
        &self.manifest.description.version
    }

    /// The first segment of its paths in this project.
    #[must_use]
    pub fn first_segment(&self) -> &str {
        self.wanted.alias.as_deref().unwrap_or_else(|| self.manifest.first_segment())
    }

    /// What a project calls a decorator of it.
    #[must_use]
    pub fn path(&self, own: &str) -> String {
        let rest = own.split_once('.').map_or("", |(_, rest)| rest);
        format!("{}.{rest}", self.first_segment())
    }

    /// As contracts and plans say it: `local:./plugins/house`.
    #[must_use]
    pub fn source(&self) -> String {
        self.origin.shown()
    }

    /// Whether it is a directory of the project.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        matches!(self.origin, Source::Local(_))
    }

    /// `opal`, `wasm` or `native`.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        let description = &self.manifest.description;
        match (self.manifest.has_code(), &description.wasm) {
            (false, _) => "opal",
            (true, Some(_)) => "wasm",
            (true, None) => "native",
        }
    }

    /// What the project and the package leave it: what both name, and for an open scope the hosts that the
    /// project names.
    #[must_use]
    pub fn granted(&self) -> BTreeSet<Capability> {
        let all = &self.manifest.capabilities;
        match &self.wanted.allow {
            Some(allow) => allow.iter().filter(|it| self.asks_for(it)).cloned().collect(),
            None => all.clone(),
        }
    }

    /// Whether its manifest has a capability, or leaves its host open.
    fn asks_for(&self, capability: &Capability) -> bool {
        let all = &self.manifest.capabilities;
        all.contains(capability) || all.iter().any(|open| capability.closes(open))
    }

    fn locked(&self) -> Locked {
        Locked {
            name: self.name().to_owned(),
            version: self.version().clone(),
            source: self.origin.to_string(),
            checksum: (!self.is_local()).then_some(self.checksum),
            signed_by: self.signed_by.clone(),
            capabilities: self.granted(),
            requires: self.manifest.description.dependencies.keys().cloned().collect(),
        }
    }

    /// The lock of these packages.
    #[must_use]
    pub fn lock(all: &[Self]) -> Lock {
        let mut packages: Vec<Locked> = all.iter().map(Self::locked).collect();
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Lock { packages, ..Lock::default() }
    }

    /// Whether a lock says the same as `opal.mod` and the packages.
    pub fn agree(all: &[Self], lock: Option<&Lock>) -> Result<(), LoadError> {
        let help = "write it again with `opal plugin install`, and commit it".to_owned();
        let disagree = |message: String| Err(LoadError::Conflict { message, help: help.clone() });
        let Some(lock) = lock else {
            return disagree("`opal.mod` has packages, and there is no `opal.lock`".to_owned());
        };
        for one in all {
            let (name, wanted) = (one.name(), one.locked());
            let Some(locked) = lock.get(name) else {
                return disagree(format!("`opal.lock` does not have {name}"));
            };
            if locked.version != wanted.version {
                let (old, new) = (&locked.version, &wanted.version);
                return disagree(format!("`opal.lock` has {name} {old}, and it is {new}"));
            }
            if locked.source != wanted.source {
                return disagree(format!("`opal.lock` has {name} from `{}`", locked.source));
            }
            if locked.signed_by != wanted.signed_by {
                return disagree(format!("`opal.lock` has another publisher of {name}"));
            }
            if let Some(more) = wanted.capabilities.difference(&locked.capabilities).next() {
                return disagree(format!(
                    "`opal.lock` does not have the capability `{more}` of {name}"
                ));
            }
        }
        let is_used = |locked: &&Locked| all.iter().any(|one| one.name() == locked.name);
        match lock.packages.iter().find(|locked| !is_used(locked)) {
            Some(more) => {
                disagree(format!("`opal.lock` has {}, and `opal.mod` does not", more.name))
            }
            None => Ok(()),
        }
    }

    /// The decorators of a package, each with the name that the package itself calls it by.
    fn descriptors(&self) -> Vec<(&'static str, &'static Descriptor, bool)> {
        let granted = self.granted();
        let capabilities = granted.iter().map(|it| leak(it.to_string())).collect::<Vec<_>>();
        let plugin: &'static Plugin = Box::leak(Box::new(Plugin {
            name: leak(self.name().to_owned()),
            version: leak(self.version().to_string()),
            source: leak(self.source()),
            verification: self.verification,
            signed_by: self.signed_by.clone().map(leak),
            checksum: leak(format!("sha256:{}", self.checksum.hex())),
            engine: self.engine(),
            capabilities: Box::leak(capabilities.into_boxed_slice()),
        }));
        let declared = self.manifest.decorators.iter();
        let code = wire::code(self);
        let mut texts = BTreeMap::new();
        let mut one = |declared: &crate::manifest::Declared| {
            let expansion = match &declared.body {
                Body::Code => None,
                Body::Opal { file, function } => {
                    let text = *texts.entry(file.clone()).or_insert_with(|| self.text(file));
                    let leaked: &'static Expansion = Box::leak(Box::new(Expansion {
                        package: plugin.name,
                        file: text.file,
                        text: text.text,
                        function: leak(function.clone()),
                        is_exported: declared.is_exported,
                    }));
                    Some(leaked)
                }
            };
            let described = Descriptor {
                path: leak(self.path(&declared.path)),
                plugin: Some(plugin),
                expansion,
                ..wire::copy(&declared.descriptor)
            };
            let described = match (&declared.body, code) {
                (Body::Code, Some(code)) => wire::wire(described, declared, code),
                _ => described,
            };
            let descriptor: &'static Descriptor = Box::leak(Box::new(described));
            (leak(declared.path.clone()), descriptor, declared.is_exported)
        };
        declared.map(&mut one).collect()
    }

    /// A file of decorators, once for all of them.
    fn text(&self, file: &str) -> SourceText {
        let bytes = self.package.file(file).unwrap_or_default();
        // The manifest has read it as text.
        let text = opal_syntax::source::decode(bytes.to_vec()).unwrap_or_default();
        SourceText { file: leak(self.shown.join(file).display().to_string()), text: leak(text) }
    }
}

/// A file of decorators that are written in opal.
#[derive(Clone, Copy)]
struct SourceText {
    file: &'static str,
    text: &'static str,
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
