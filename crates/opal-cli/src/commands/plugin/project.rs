//! The project around the working directory, and its packages.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::Registry;
use opal_files::SystemError;
use opal_plugins::address::Address;
use opal_plugins::installed::{self, Installed, LoadError, Store};
use opal_plugins::lock::{self, Lock};
use opal_plugins::names::{Requirement, Version};
use opal_plugins::project::{Wanted, providers, registries, wanted};
use opal_plugins::provider::Provider;
use opal_plugins::provider::wanted::WantedProvider;

use super::{LineIndex, core, failure};
use crate::context::Context;
use crate::decorators::{kept_packages, project_settings, provider_failure, shown_folder, text_of};
use crate::failure::{Exit, Failure};
use crate::planning::{here, project_file};

pub(super) struct Project {
    /// The `opal.mod`; it may not exist yet.
    pub(super) file: PathBuf,
    text: String,
    pub(super) wanted: Vec<Wanted>,
    pub(super) registries: Vec<(String, String)>,
    pub(super) providers: Vec<WantedProvider>,
    /// What is locked now.
    pub(super) lock: Option<Lock>,
    /// Where packages of registries and git are kept.
    kept: Option<PathBuf>,
    built_in: Registry,
}

impl Project {
    pub(super) fn here(context: &Context<'_>, matches: &ArgMatches) -> Result<Self, Failure> {
        let here = here()?;
        let file = project_file(&here.join("opal.mod")).unwrap_or_else(|| here.join("opal.mod"));
        let text = text_of(&file)?.unwrap_or_default();
        let wanted = wanted(&text).map_err(|error| failure(&file, LoadError::Mod(error)))?;
        let registries =
            registries(&text).map_err(|error| failure(&file, LoadError::Mod(error)))?;
        let providers = providers(&text).map_err(|error| failure(&file, LoadError::Mod(error)))?;
        let lock_file = file.with_file_name(lock::FILE);
        let lock = text_of(&lock_file)?.map(|text| Lock::parse(&text)).transpose();
        let is_local = |it: &Wanted| matches!(it.address, Address::Directory(_));
        let lock = match lock {
            Ok(lock) => lock,
            // Everything in it is computed from the directories.
            Err(_) if wanted.iter().all(is_local) => None,
            Err(error) => return Err(failure(&lock_file, LoadError::Lock(error))),
        };
        let root = context.root(matches.try_get_one("root").ok().flatten());
        let kept = root.as_ref().map(kept_packages);
        let built_in = opal_decorators::registry();
        Ok(Self { file, text, wanted, registries, providers, lock, kept, built_in })
    }

    fn folder(&self) -> PathBuf {
        shown_folder(&self.file)
    }

    pub(super) fn lock_file(&self) -> PathBuf {
        self.file.with_file_name(lock::FILE)
    }

    /// The directory of the project, without symlinks.
    pub(super) fn top(&self) -> PathBuf {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    }

    /// What opal.mod calls a directory.
    pub(super) fn key(&self, given: &Path) -> Result<String, Failure> {
        let whole = given.canonicalize().map_err(|error| {
            let message = format!("`{}` cannot be used: {}", given.display(), SystemError(&error));
            Failure::new(Exit::NoFile, message, "name the directory of a package")
        })?;
        let seen = opal_ops::source::seen_from(&self.top(), &whole).display().to_string();
        Ok(if seen.starts_with("..") { seen } else { format!("./{seen}") })
    }

    pub(super) fn read(&self, wanted: Wanted) -> Result<Installed, LoadError> {
        let store = self.store(self.lock.as_ref());
        Installed::read(&self.folder(), wanted, store, &self.built_in, &core())
    }

    fn store<'s>(&'s self, lock: Option<&'s Lock>) -> Store<'s> {
        Store { lock, folder: self.kept.as_deref() }
    }

    /// A package of a directory.
    pub(super) fn local(&self, wanted: &Wanted) -> Result<Installed, Failure> {
        self.read(wanted.clone()).map_err(|error| failure(&self.file, error))
    }

    /// A directory as a package of this project, in the version that it has.
    pub(super) fn read_package(
        &self,
        key: &str,
        alias: Option<String>,
    ) -> Result<Installed, LoadError> {
        let any = |text: &str| text.parse().map_err(|_| LoadError::Missing { key: key.to_owned() });
        let address = Address::Directory(key.to_owned());
        let wanted = Wanted::plain(key, address, Requirement::any(""));
        let one = self.read(Wanted { alias: alias.clone(), ..wanted })?;
        let version: &Version = one.version();
        let requirement = any(&version.to_string())?;
        self.read(Wanted { requirement, alias, ..one.wanted })
    }

    /// These packages, checked together.
    pub(super) fn packages(
        &self,
        wanted: Vec<Wanted>,
        lock: Option<&Lock>,
    ) -> Result<Vec<Installed>, Failure> {
        let failed = |error| failure(&self.file, error);
        let store = self.store(lock);
        let all = Installed::all(&self.folder(), wanted, store, &self.built_in, &core());
        let all = all.map_err(failed)?;
        installed::registry(opal_decorators::BUILT_IN, &all).map_err(failed)?;
        Ok(all)
    }

    /// The providers of the project, as they are on this machine now.
    pub(super) fn found_providers(
        &self,
        context: &Context<'_>,
        matches: &ArgMatches,
    ) -> Result<Vec<Provider>, Failure> {
        let root = context.needed_root(matches.get_one("root"))?;
        let settings = project_settings(&self.file)?;
        let find = |wanted: &WantedProvider| {
            let found = Provider::find(&settings, wanted.clone(), &root);
            found.map_err(|error| provider_failure(&wanted.key, error))
        };
        self.providers.iter().map(find).collect()
    }

    /// Whether a name can be asked for in a registry of this project.
    pub(super) fn has_registry_of(&self, given: &str) -> bool {
        matches!(Address::parse(given), Ok(Address::Registry(_))) && !self.registries.is_empty()
    }

    /// The package that is called so: by its key, or by its name.
    pub(super) fn find(&self, given: &str) -> Result<&Wanted, Failure> {
        let by_key = |wanted: &&Wanted| {
            let plain = |text: &str| text.trim_start_matches("./").trim_end_matches('/').to_owned();
            plain(&wanted.key) == plain(given)
        };
        let is_named =
            |wanted: &&Wanted| self.read((*wanted).clone()).is_ok_and(|one| one.name() == given);
        let found = self.wanted.iter().find(by_key).or_else(|| self.wanted.iter().find(is_named));
        found.ok_or_else(|| {
            let message = format!("`{given}` is not a package of this project");
            Failure::usage(message, "list them with `opal plugin list`")
        })
    }

    /// The text of `opal.mod` with one more package.
    pub(super) fn with(&self, one: &Installed) -> Result<String, Failure> {
        let Wanted { key, alias, requirement, allow, .. } = &one.wanted;
        let mut more = alias.iter().map(|alias| format!(", as = \"{alias}\"")).collect::<String>();
        if let Some(allow) = allow {
            let all: Vec<String> = allow.iter().map(|it| lock::quoted(&it.to_string())).collect();
            more.push_str(&format!(", allow = [{}]", all.join(", ")));
        }
        let line = match more.is_empty() {
            true => format!("\"{key}\" = \"{requirement}\""),
            false => format!("\"{key}\" = {{ version = \"{requirement}\"{more} }}"),
        };
        let mut lines: Vec<&str> = self.text.lines().collect();
        match lines.iter().position(|line| line.trim() == "[plugins]") {
            Some(at) => lines.insert(at + 1, &line),
            None => {
                if !lines.is_empty() {
                    lines.push("");
                }
                lines.extend(["[plugins]", &line]);
            }
        }
        self.changed(lines.join("\n") + "\n", |left| left.iter().any(|it| it.key == *key))
    }

    /// The text of `opal.mod` without a package.
    pub(super) fn without(&self, key: &str) -> Result<String, Failure> {
        let is_it = |line: &str| {
            let line = line.trim_start();
            let name = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            name.is_some_and(|(name, rest)| name == key && rest.trim_start().starts_with('='))
        };
        let lines: Vec<&str> = self.text.lines().filter(|line| !is_it(line)).collect();
        self.changed(lines.join("\n") + "\n", |left| left.iter().all(|it| it.key != key))
    }

    /// A text is written only where it says what it should.
    fn changed(&self, text: String, holds: impl Fn(&[Wanted]) -> bool) -> Result<String, Failure> {
        match wanted(&text) {
            Ok(found) if holds(&found) => Ok(text),
            _ => {
                let lines = LineIndex::new(&self.text).lines();
                let message = format!("opal.mod ({lines} lines) cannot be changed here");
                let help = "change `[plugins]` by hand, then run `opal plugin install`";
                Err(Failure::new(Exit::Configuration, message, help))
            }
        }
    }
}
