//! The packages of one project. Most of its sources name none of their decorators, so the files of packages
//! are read when a source names a decorator that is not built in.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use opal_core::Registry;
use opal_core::registry::Unread;
use opal_files::trusted;
use opal_plugins::adapt::native::NativeRules;
use opal_plugins::installed::{self, Installed, LoadError, Store};
use opal_plugins::lock::{self, Lock};
use opal_plugins::project::{self, Wanted};
use opal_plugins::provider::Provider;
use opal_plugins::provider::wanted::WantedProvider;
use opal_trust::policy::Native;
use opal_vault::root::Root;

use super::{core, failure, kept_packages, providers, shown_folder, text_of};
use crate::ambient::variable;
use crate::failure::{Exit, Failure};
use crate::trust::Verifier;

#[derive(Debug)]
pub(crate) struct Packages {
    /// The `opal.mod`.
    pub(super) file: PathBuf,
    pub(super) registries: Vec<(String, String)>,
    wanted: Vec<Wanted>,
    providers: Vec<WantedProvider>,
    /// The runtime root, with the packages of registries and git.
    root: Option<Root>,
    built_in: &'static Registry,
    content: OnceLock<Result<Content, Failure>>,
}

/// What is in the packages.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) all: Vec<Installed>,
    pub(crate) providers: Vec<&'static Provider>,
    registry: Registry,
}

impl Packages {
    /// Those that an `opal.mod` wants; none where it wants none. `is_found`: nobody named the source.
    pub(super) fn of(
        file: PathBuf,
        is_found: bool,
        root: Option<&Root>,
        built_in: &'static Registry,
    ) -> Result<Option<&'static Self>, Failure> {
        let Some(text) = text_of(&file)? else { return Ok(None) };
        if !project::mentions_plugins(&text) {
            return Ok(None);
        }
        let failed = |error| failure(&file, LoadError::Mod(error));
        let wanted = project::wanted(&text).map_err(failed)?;
        let providers = project::providers(&text).map_err(failed)?;
        if wanted.is_empty() && providers.is_empty() {
            return Ok(None);
        }
        if is_found {
            for file in [&file, &file.with_file_name(lock::FILE)] {
                trusted::check(file).map_err(|why| {
                    let message = format!("`{}` is not used: {why}", file.display());
                    let help = "check it, then make it yours with `chown` and `chmod go-w`";
                    Failure::new(Exit::NotTrusted, message, help)
                })?;
            }
        }
        let registries = project::registries(&text).map_err(failed)?;
        let (root, content) = (root.cloned(), OnceLock::new());
        let packages = Self { file, registries, wanted, providers, root, built_in, content };
        // A process has few of them, and each lasts until it ends.
        Ok(Some(Box::leak(Box::new(packages))))
    }

    /// What is in them, read now unless that was done before.
    pub(crate) fn content(&self) -> Result<&Content, Failure> {
        self.content.get_or_init(|| self.load()).as_ref().map_err(Clone::clone)
    }

    /// The same, where it was read before.
    pub(crate) fn known_content(&self) -> Result<Option<&Content>, Failure> {
        self.content.get().map(|it| it.as_ref().map_err(Clone::clone)).transpose()
    }

    fn load(&self) -> Result<Content, Failure> {
        let failed = |error| failure(&self.file, error);
        let lock_file = self.file.with_file_name(lock::FILE);
        let lock = text_of(&lock_file)?.map(|text| Lock::parse(&text)).transpose();
        let lock = lock.map_err(|error| failure(&lock_file, LoadError::Lock(error)))?;
        let kept = self.root.as_ref().map(kept_packages);
        let trust = Verifier::new(self.root.clone());
        let store = Store {
            lock: lock.as_ref(),
            folder: kept.as_deref(),
            root: self.root.as_ref(),
            trust: Some(&trust),
            is_new: false,
        };
        let (folder, wanted) = (shown_folder(&self.file), self.wanted.clone());
        let all = Installed::all(&folder, wanted, store, self.built_in, &core()).map_err(failed)?;
        if !all.is_empty() || lock.is_some() {
            Installed::agree(&all, lock.as_ref()).map_err(failed)?;
        }
        let registry = installed::registry(opal_decorators::BUILT_IN, &all).map_err(failed)?;
        let (registry, providers) = providers::with(
            registry,
            self.providers.clone(),
            (&self.file, lock.as_ref()),
            self.root.as_ref(),
            self.built_in,
        )?;
        Ok(Content { all, providers, registry })
    }

    /// What holds for the native code of these packages.
    pub(crate) fn native(&self, policy: Native) -> NativeRules {
        let folder = self.file.parent().map(Path::to_owned).unwrap_or_default();
        let base = folder.canonicalize().unwrap_or(folder);
        let home = variable("HOME").map(PathBuf::from);
        NativeRules { is_unconfined: policy == Native::Unconfined, base, home }
    }
}

impl Unread for Packages {
    fn read(&'static self) -> Option<&'static Registry> {
        let content = self.content.get_or_init(|| self.load());
        content.as_ref().ok().map(|content| &content.registry)
    }

    fn known(&'static self) -> Option<&'static Registry> {
        self.content.get()?.as_ref().ok().map(|content| &content.registry)
    }
}
