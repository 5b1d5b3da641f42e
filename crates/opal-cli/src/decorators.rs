//! The decorators that a source may name: the built-in ones, and those of the packages of its project.
//!
//! Most projects have no packages, and then nothing but the `opal.mod` is looked for. A command may read
//! sources of several projects, one after the other: the registry is that of the last one.

mod providers;

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use opal_core::Registry;
use opal_files::{SystemError, regular, trusted};
use opal_ops::source::{Form, Loaded};
use opal_plugins::accept::Acceptances;
use opal_plugins::adapt::native::NativeRules;
use opal_plugins::capability::Capability;
use opal_plugins::installed::{self, Installed, LoadError, NotAllowed, Store};
use opal_plugins::lock::{self, Lock};
use opal_plugins::project;
use opal_plugins::provider::Provider;
use opal_trust::policy::{Native, PluginRules, Policy};
use opal_vault::root::Root;

pub(crate) use providers::{project_settings, provider_failure};

use crate::failure::{Exit, Failure};
use crate::planning::project_file;
use crate::{helpers, rules};

/// Bytes of an `opal.mod` or an `opal.lock`.
const MOST_BYTES: u64 = 256 * 1024;

pub(crate) struct Decorators {
    built_in: &'static Registry,
    current: Cell<&'static Registry>,
    projects: RefCell<Vec<Rc<Packages>>>,
    /// Those of the current registry.
    packages: RefCell<Option<Rc<Packages>>>,
    accepted: OnceCell<Acceptances>,
    /// The runtime root, with the packages of registries and git.
    root: Option<Root>,
}

/// The packages of one project.
#[derive(Debug)]
pub(crate) struct Packages {
    /// The `opal.mod`.
    file: PathBuf,
    pub(crate) all: Vec<Installed>,
    pub(crate) providers: Vec<&'static Provider>,
    registries: Vec<(String, String)>,
    registry: &'static Registry,
}

impl Packages {
    /// What holds for the native code of these packages.
    pub(crate) fn native(&self, policy: Native) -> NativeRules {
        let folder = self.file.parent().map(Path::to_owned).unwrap_or_default();
        let base = folder.canonicalize().unwrap_or(folder);
        NativeRules { is_unconfined: policy == Native::Unconfined, base }
    }
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
            packages: RefCell::default(),
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
        self.packages.replace(None);
        let Some(file) = project_file(source) else { return Ok(()) };
        let known = self.projects.borrow().iter().find(|it| it.file == file).cloned();
        let packages = match known {
            Some(known) => Some(known),
            None => self.read(file, is_found)?,
        };
        if let Some(packages) = &packages {
            self.current.set(packages.registry);
        }
        self.packages.replace(packages);
        Ok(())
    }

    fn read(&self, file: PathBuf, is_found: bool) -> Result<Option<Rc<Packages>>, Failure> {
        let Some(text) = text_of(&file)? else { return Ok(None) };
        if !project::mentions_plugins(&text) {
            return Ok(None);
        }
        let failed = |error| failure(&file, error);
        let wanted = project::wanted(&text).map_err(|error| failed(LoadError::Mod(error)))?;
        let providers = project::providers(&text).map_err(|error| failed(LoadError::Mod(error)))?;
        if wanted.is_empty() && providers.is_empty() {
            return Ok(None);
        }
        let lock_file = file.with_file_name(lock::FILE);
        if is_found {
            for file in [&file, &lock_file] {
                trusted::check(file).map_err(|why| {
                    let message = format!("`{}` is not used: {why}", file.display());
                    let help = "check it, then make it yours with `chown` and `chmod go-w`";
                    Failure::new(Exit::NotTrusted, message, help)
                })?;
            }
        }
        let registries =
            project::registries(&text).map_err(|error| failed(LoadError::Mod(error)))?;
        let folder = shown_folder(&file);
        let lock = text_of(&lock_file)?.map(|text| Lock::parse(&text)).transpose();
        let lock = lock.map_err(|error| failure(&lock_file, LoadError::Lock(error)))?;
        let kept = self.root.as_ref().map(kept_packages);
        let store = Store { lock: lock.as_ref(), folder: kept.as_deref() };
        let all = Installed::all(&folder, wanted, store, self.built_in, &core()).map_err(failed)?;
        if !all.is_empty() || lock.is_some() {
            Installed::agree(&all, lock.as_ref()).map_err(failed)?;
        }
        let registry = installed::registry(opal_decorators::BUILT_IN, &all).map_err(failed)?;
        let (registry, providers) = providers::with(
            registry,
            providers,
            (&file, lock.as_ref()),
            self.root.as_ref(),
            self.built_in,
        )?;
        let registry: &'static Registry = Box::leak(Box::new(registry));
        let packages = Rc::new(Packages { file, all, providers, registries, registry });
        self.projects.borrow_mut().push(Rc::clone(&packages));
        Ok(Some(packages))
    }

    /// The packages of the project of the last source.
    pub(crate) fn packages(&self) -> Option<Rc<Packages>> {
        self.packages.borrow().clone()
    }

    /// Refuses to plan a source with a package that may not be used here.
    pub(crate) fn demand(&self, loaded: &Loaded, root: Option<&Root>) -> Result<(), Failure> {
        let Some(packages) = self.packages() else { return Ok(()) };
        // A configuration names its step types by other words: all packages count.
        let all = !matches!(loaded.form, Form::Language(_));
        let is_used = |name: &str| all || loaded.imports.packages.contains(name);
        let used: Vec<&Installed> = packages.all.iter().filter(|one| is_used(one.name())).collect();
        let providers = packages.providers.iter().copied();
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
