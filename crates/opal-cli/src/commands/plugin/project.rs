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
use opal_plugins::provider::wanted::{Origin, WantedProvider};
use opal_vault::root::Root;

use super::{LineIndex, core, failure};
use crate::context::Context;
use crate::decorators::{kept_packages, shown_folder, text_of};
use crate::failure::{Exit, Failure};
use crate::planning::{here, project_file};
use crate::trust::Verifier;

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
    root: Option<Root>,
    trust: Verifier,
    pub(super) built_in: Registry,
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
        let trust = Verifier::new(root.clone());
        let built_in = opal_decorators::registry();
        Ok(Self { file, text, wanted, registries, providers, lock, kept, root, trust, built_in })
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

    /// The directory of what was checked out with the project, without symlinks: whoever changes the project may
    /// have written anything in it. A submodule and a worktree have a file `.git`, and belong to what is around them.
    pub(super) fn checkout(&self) -> PathBuf {
        let mut found = self.top();
        for above in self.top().ancestors() {
            if let Ok(git) = above.join(".git").symlink_metadata() {
                above.clone_into(&mut found);
                if !git.is_file() {
                    break;
                }
            }
        }
        found
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
        Store {
            lock,
            folder: self.kept.as_deref(),
            root: self.root.as_ref(),
            trust: Some(&self.trust),
            is_new: false,
        }
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
        self.checked(wanted, self.store(lock))
    }

    /// The same, with a lock that has just been made.
    pub(super) fn fetched(
        &self,
        wanted: Vec<Wanted>,
        lock: &Lock,
    ) -> Result<Vec<Installed>, Failure> {
        self.checked(wanted, Store { is_new: true, ..self.store(Some(lock)) })
    }

    fn checked(&self, wanted: Vec<Wanted>, store: Store<'_>) -> Result<Vec<Installed>, Failure> {
        let failed = |error| failure(&self.file, error);
        let all = Installed::all(&self.folder(), wanted, store, &self.built_in, &core());
        let all = all.map_err(failed)?;
        installed::registry(opal_decorators::BUILT_IN, &all).map_err(failed)?;
        Ok(all)
    }

    /// The lock of these packages, and of the providers as they are locked now.
    pub(super) fn lock_of(&self, all: &[Installed]) -> Lock {
        let providers = self.lock.as_ref().map(|lock| lock.providers.clone());
        Lock { providers: providers.unwrap_or_default(), ..Installed::lock(all) }
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
        self.changed(self.with_line(&line), |text| {
            wanted(text).is_ok_and(|all| all.iter().any(|it| it.key == *key))
        })
    }

    /// The text of `opal.mod` with one more provider.
    pub(super) fn with_provider(&self, one: &WantedProvider) -> Result<String, Failure> {
        let WantedProvider { key, segment, .. } = one;
        let Origin::Version(requirement) = &one.origin else {
            return Err(Failure::usage(
                format!("`{key}` is a file of this project"),
                "write it in opal.mod, and run `opal plugin install`",
            ));
        };
        let line = match *segment == one.short().replace('-', "_") {
            true => format!("\"{key}\" = \"{requirement}\""),
            false => {
                format!("\"{key}\" = {{ version = \"{requirement}\", as = \"{segment}\" }}")
            }
        };
        self.changed(self.with_line(&line), |text| {
            providers(text).is_ok_and(|all| all.contains(one))
        })
    }

    /// The text with one more line in `[plugins]`.
    fn with_line(&self, line: &str) -> String {
        let mut lines: Vec<&str> = self.text.lines().collect();
        match lines.iter().position(|line| line.trim() == "[plugins]") {
            Some(at) => lines.insert(at + 1, line),
            None => {
                if !lines.is_empty() {
                    lines.push("");
                }
                lines.extend(["[plugins]", line]);
            }
        }
        lines.join("\n") + "\n"
    }

    /// The text of `opal.mod` without a package.
    pub(super) fn without(&self, key: &str) -> Result<String, Failure> {
        let is_it = |line: &str| {
            let line = line.trim_start();
            let name = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            name.is_some_and(|(name, rest)| name == key && rest.trim_start().starts_with('='))
        };
        let lines: Vec<&str> = self.text.lines().filter(|line| !is_it(line)).collect();
        self.changed(lines.join("\n") + "\n", |text| {
            let is_gone = wanted(text).is_ok_and(|all| all.iter().all(|it| it.key != key));
            is_gone && providers(text).is_ok_and(|all| all.iter().all(|it| it.key != key))
        })
    }

    /// A text is written only where it says what it should.
    fn changed(&self, text: String, holds: impl Fn(&str) -> bool) -> Result<String, Failure> {
        match holds(&text) {
            true => Ok(text),
            false => {
                let lines = LineIndex::new(&self.text).lines();
                let message = format!("opal.mod ({lines} lines) cannot be changed here");
                let help = "change `[plugins]` by hand, then run `opal plugin install`";
                Err(Failure::new(Exit::Configuration, message, help))
            }
        }
    }
}
