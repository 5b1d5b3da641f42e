//! The decorators that a source may name: the built-in ones, and those of the packages of its project.
//!
//! Most projects have no packages, and then nothing but the `opal.mod` is looked for. A command may read
//! sources of several projects, one after the other: the registry is that of the last one.

mod packages;
mod providers;

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use opal_core::Registry;
use opal_files::{SystemError, regular};
use opal_ops::source::{Form, Loaded};
use opal_plugins::accept::Acceptances;
use opal_plugins::capability::Capability;
use opal_plugins::installed::{Installed, LoadError, NotAllowed};
use opal_plugins::provider::Provider;
use opal_trust::policy::{PluginRules, Policy};
use opal_vault::root::Root;

pub(crate) use packages::Packages;
pub(crate) use providers::{project_settings, provider_failure};

use crate::failure::{Exit, Failure};
use crate::planning::project_file;
use crate::{helpers, rules};

/// Bytes of an `opal.mod` or an `opal.lock`.
const MOST_BYTES: u64 = 256 * 1024;

pub(crate) struct Decorators {
    built_in: &'static Registry,
    current: Cell<&'static Registry>,
    /// Packages of projects, each with its registry.
    projects: RefCell<Vec<(&'static Packages, &'static Registry)>>,
    /// Those of the current registry.
    packages: Cell<Option<&'static Packages>>,
    accepted: OnceCell<Acceptances>,
    /// The runtime root, with the packages of registries and git.
    root: Option<Root>,
}

impl Deref for Decorators {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        self.current.get()
    }
}

impl Decorators {
    pub(crate) fn new(registry: Registry, root: Option<Root>) -> Self {
        // A process has few of them, and each lasts until it ends.
        let built_in: &'static Registry = Box::leak(Box::new(registry));
        Self {
            built_in,
            current: Cell::new(built_in),
            projects: RefCell::default(),
            packages: Cell::default(),
            accepted: OnceCell::new(),
            root,
        }
    }

    pub(crate) const fn root(&self) -> Option<&Root> {
        self.root.as_ref()
    }

    /// From now on those of the project that a source belongs to. `is_found`: nobody named the source.
    pub(crate) fn of_source(&self, source: &Path, is_found: bool) -> Result<(), Failure> {
        self.current.set(self.built_in);
        self.packages.set(None);
        let Some(file) = project_file(source) else { return Ok(()) };
        let known = self.projects.borrow().iter().find(|(it, _)| it.file == file).copied();
        let project = match known {
            Some(known) => Some(known),
            None => self.project(file, is_found)?,
        };
        if let Some((packages, registry)) = project {
            self.current.set(registry);
            self.packages.set(Some(packages));
        }
        Ok(())
    }

    /// The packages of a project, and its registry.
    fn project(
        &self,
        file: PathBuf,
        is_found: bool,
    ) -> Result<Option<(&'static Packages, &'static Registry)>, Failure> {
        let packages = Packages::of(file, is_found, self.root.as_ref(), self.built_in)?;
        let Some(packages) = packages else { return Ok(None) };
        let registry = Box::leak(Box::new(self.built_in.with_unread(packages)));
        self.projects.borrow_mut().push((packages, registry));
        Ok(Some((packages, registry)))
    }

    /// Fails where a source named a decorator of a package, and the packages cannot be read.
    pub(crate) fn check_read(&self) -> Result<(), Failure> {
        self.packages().map_or(Ok(()), |packages| packages.known_content().map(drop))
    }

    /// Reads the packages of the project, whatever a source names.
    pub(crate) fn read_all(&self) -> Result<(), Failure> {
        self.packages().map_or(Ok(()), |packages| packages.content().map(drop))
    }

    /// The packages of the project of the last source.
    pub(crate) const fn packages(&self) -> Option<&'static Packages> {
        self.packages.get()
    }

    /// Refuses to plan a source with a package that may not be used here.
    pub(crate) fn demand(&self, loaded: &Loaded, root: Option<&Root>) -> Result<(), Failure> {
        let Some(packages) = self.packages() else { return Ok(()) };
        // A configuration names its step types by other words: all packages count.
        let all = !matches!(loaded.form, Form::Language(_));
        let content = if all { Some(packages.content()?) } else { packages.known_content()? };
        let Some(content) = content else { return Ok(()) };
        let is_used = |name: &str| all || loaded.imports.program.packages.contains(name);
        let used: Vec<&Installed> = content.all.iter().filter(|one| is_used(one.name())).collect();
        let providers = content.providers.iter().copied();
        let providers: Vec<&Provider> = providers.filter(|one| is_used(one.name())).collect();
        if used.is_empty() && providers.is_empty() {
            return Ok(());
        }
        let policy = rules::of(root, Policy::default(), &loaded.policed())?;
        let accepted = self.accepted(root)?;
        providers::demand(&providers, (accepted, root), &policy.plugins)?;
        let registries = effective(&policy.plugins, &packages.registries);
        for one in &used {
            one.belongs(&registries).map_err(|error| failure(&packages.file, error))?;
            one.judge(&policy.plugins, accepted).map_err(|why| not_allowed(one, &why))?;
        }
        if let Some(root) = root.filter(|_| used.iter().any(|one| one.manifest.has_code())) {
            helpers::check_machine(root);
        }
        // Only from here on the code of packages can run at all.
        helpers::run_packages(root, packages.native(policy.plugins.native()));
        Ok(())
    }

    /// Refuses providers of the current project that may not be used here; the others may start from now
    /// on. `source` is what policies are looked for around.
    pub(crate) fn demand_providers(
        &self,
        source: &Path,
        root: Option<&Root>,
    ) -> Result<Vec<&'static Provider>, Failure> {
        helpers::run_providers(root);
        let Some(packages) = self.packages() else { return Ok(Vec::new()) };
        let policy = rules::of(root, Policy::default(), &[source.to_owned()])?;
        let used: Vec<&Provider> = packages.content()?.providers.clone();
        providers::demand(&used, (self.accepted(root)?, root), &policy.plugins)?;
        Ok(packages.content()?.providers.clone())
    }

    pub(crate) fn accepted(&self, root: Option<&Root>) -> Result<&Acceptances, Failure> {
        if let Some(known) = self.accepted.get() {
            return Ok(known);
        }
        let found = match root {
            Some(root) => Acceptances::load(root).map_err(|error| unaccepted(root, error))?,
            None => Acceptances::default(),
        };
        Ok(self.accepted.get_or_init(|| found))
    }
}

/// Where packages of registries and git are kept.
pub(crate) fn kept_packages(root: &Root) -> PathBuf {
    root.path().join("plugins")
}

/// The registries that hold: those of a policy, and then those of the project.
pub(crate) fn effective(
    policy: &PluginRules,
    project: &[(String, String)],
) -> Vec<(String, String)> {
    let is_bound = |name: &str| policy.registries.iter().any(|(it, _)| it == name);
    let own = project.iter().filter(|(name, _)| !is_bound(name));
    policy.registries.iter().chain(own).cloned().collect()
}

/// The version of this program.
pub(crate) fn core() -> opal_plugins::names::Version {
    env!("CARGO_PKG_VERSION").parse().unwrap_or_else(|_| opal_plugins::names::Version::new(0, 0, 0))
}

/// The directory of an `opal.mod` as messages name files in it.
pub(crate) fn shown_folder(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let here = std::env::current_dir().unwrap_or_default();
    let seen = opal_ops::source::seen_from(&here, folder);
    if seen == Path::new(".") { PathBuf::new() } else { seen }
}

/// The text of a file; none where there is no file.
pub(crate) fn text_of(file: &Path) -> Result<Option<String>, Failure> {
    match regular::read_to_string(file, MOST_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("`{}` cannot be read: {}", file.display(), SystemError(&error));
            Err(Failure::new(Exit::Configuration, message, "correct the file, or remove it"))
        }
    }
}

/// What is wrong with the packages of a project.
pub(crate) fn failure(file: &Path, error: LoadError) -> Failure {
    let name = shown_folder(file).join(file.file_name().unwrap_or_default());
    let name = name.display();
    match error {
        LoadError::Mod(error) => {
            let exit = Exit::Configuration;
            Failure::new(exit, format!("{name}:{}: {}", error.line, error.message), error.help)
        }
        LoadError::Lock(error) => {
            let message = format!("{name}:{}: {}", error.line, error.message);
            Failure::new(Exit::Configuration, message, "write it again with `opal plugin install`")
        }
        LoadError::Missing { key } => Failure::new(
            Exit::Unavailable,
            format!("{name}: the package `{key}` is not there"),
            "correct the path in `[plugins]`: it begins in the directory of opal.mod",
        ),
        LoadError::NotInstalled { name, version } => Failure::new(
            Exit::Unavailable,
            format!("the package {name} {version} is not installed on this machine"),
            "install it with `opal plugin install`",
        ),
        LoadError::Untrusted { message, help } => Failure::new(Exit::NotTrusted, message, help),
        LoadError::Unavailable { message, help } => Failure::new(Exit::Unavailable, message, help),
        LoadError::Package { key, why } => Failure::new(
            Exit::Source,
            format!("`{key}` is not a package: {why}"),
            "a package has only regular files: `opal.toml`, `dim.yaml`, `decorators/`, `plugins/`",
        ),
        LoadError::Manifest { directory, faulty } => {
            let first = faulty.first();
            let found = first.and_then(|faulty| Some((faulty, faulty.diagnostics.first()?)));
            let Some((faulty, error)) = found else {
                return Failure::new(Exit::Source, "invalid package", "see `opal plugin info DIR`");
            };
            let place = opal_core::LineIndex::new(&faulty.text).line(error.primary.span.start);
            let file = directory.join(&faulty.file);
            let message = format!("{}:{place}: {}", file.display(), error.message);
            Failure::new(Exit::Source, message, error.help.join("; ")).coded(error.code)
        }
        LoadError::Conflict { message, help } => Failure::new(Exit::Configuration, message, help),
    }
}

pub(crate) fn unaccepted(root: &Root, error: opal_plugins::accept::AcceptError) -> Failure {
    use opal_plugins::accept::AcceptError;
    let file = Acceptances::path(root);
    match error {
        AcceptError::Unusable(error) => {
            let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Configuration };
            Failure::new(exit, error.to_string(), error.help())
        }
        AcceptError::NotText => Failure::new(
            Exit::Configuration,
            format!("`{}` is not UTF-8", file.display()),
            "remove it, and accept the packages again with `opal plugin install`",
        ),
        AcceptError::Invalid(error) => Failure::new(
            Exit::Configuration,
            format!("{}:{}: {}", file.display(), error.line, error.message),
            "remove it, and accept the packages again with `opal plugin install`",
        ),
    }
}

/// How a project names the host that a package leaves open.
fn named(one: &Installed, open: &Capability) -> String {
    let closed = |it: &Capability| match it {
        Capability::Open(_) => format!("\"{it}:HOST\""),
        it => format!("\"{it}\""),
    };
    let all: Vec<String> = one.manifest.capabilities.iter().map(closed).collect();
    let key = &one.wanted.key;
    format!(
        "name the host: with `opal plugin add`, `--allow {open}:HOST`; in opal.mod, `\"{key}\" = {{ version = \
         \"{}\", allow = [{}] }}`",
        one.version(),
        all.join(", ")
    )
}

pub(crate) fn not_allowed(one: &Installed, why: &NotAllowed) -> Failure {
    let message = format!("the package {} {} may not be used: {why}", one.name(), one.version());
    let help = match why {
        NotAllowed::Project(_) => "extend `allow` in opal.mod, or remove the package",
        NotAllowed::Open(open) => return Failure::new(Exit::NotTrusted, message, named(one, open)),
        NotAllowed::Excess(_) => {
            "remove it: `allow` gives what the manifest asks for, and hosts where it names none"
        }
        NotAllowed::Policy(_) => "ask the owner of the policy",
        NotAllowed::Native => "write `native = true` for the package in opal.mod, or remove it",
        NotAllowed::NotAccepted { .. } => {
            "check what it does and accept it: `opal plugin install`; for a directory of your own: \
             `opal plugin trust DIR`"
        }
    };
    Failure::new(Exit::NotTrusted, message, help)
}
