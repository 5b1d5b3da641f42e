//! Where things are: the roots of modules, packs and profiles.
//!
//! What was typed comes first, then the environment, then the release that opal was installed with.
//! A repository is never looked for: a tree that was unpacked from an archive works the same.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::schema::Schemas;

use super::offer;
use super::reference::{ModuleRef, Name};

/// What decides where things are, as the command line and the environment have it.
#[derive(Clone, Copy, Debug)]
pub struct Hints<'a> {
    /// Who judges inputs by their schema.
    pub schemas: &'a Arc<dyn Schemas>,
    /// `--module-root`.
    pub module_root: Option<&'a Path>,
    /// `$HYOPS_MODULES_ROOT`.
    pub modules_variable: Option<&'a OsStr>,
    /// `$HYOPS_PACKS_ROOT`.
    pub packs_variable: Option<&'a OsStr>,
    /// The program that runs.
    pub program: Option<&'a Path>,
}

impl<'a> Hints<'a> {
    /// Nothing says where anything is.
    #[must_use]
    pub fn none(schemas: &'a Arc<dyn Schemas>) -> Self {
        Self {
            schemas,
            module_root: None,
            modules_variable: None,
            packs_variable: None,
            program: None,
        }
    }
}

/// Something is not where it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    pub message: String,
    pub help: String,
}

impl NotFound {
    fn new(message: String, help: impl Into<String>) -> Self {
        Self { message, help: help.into() }
    }
}

/// The directories that a command works with.
#[derive(Clone, Debug)]
pub struct Places {
    pub modules: PathBuf,
    packs: Result<PathBuf, NotFound>,
    /// Where `drivers/` may be.
    releases: Vec<PathBuf>,
    schemas: Arc<dyn Schemas>,
}

impl Places {
    /// Finds the modules root; that of packs may be missing until it is needed.
    pub fn find(hints: &Hints<'_>) -> Result<Self, NotFound> {
        let release = hints.program.and_then(release);
        let modules = modules(hints, release.as_deref())?;
        // `packs/` and `drivers/` are beside `modules/`, in a release and wherever one is unpacked.
        let beside =
            modules.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf));
        let releases: Vec<PathBuf> = beside.into_iter().chain(release).collect();
        let packs = packs(hints.packs_variable, &releases);
        Ok(Self { modules, packs, releases, schemas: Arc::clone(hints.schemas) })
    }

    /// Who judges inputs by their schema.
    #[must_use]
    pub fn schemas(&self) -> &Arc<dyn Schemas> {
        &self.schemas
    }

    /// The directory of a module.
    #[must_use]
    pub fn module(&self, module: &ModuleRef) -> PathBuf {
        self.modules.join(module.path())
    }

    /// The packs root, if there is one.
    pub fn packs(&self) -> Result<&Path, NotFound> {
        self.packs.as_deref().map_err(NotFound::clone)
    }

    /// The stack of a pack: `<packs root>/<driver>/<pack>/stack`.
    pub fn stack(&self, driver: &Name, pack: &Name) -> Result<PathBuf, NotFound> {
        let root = self.packs()?;
        let stack = root.join(driver.path()).join(pack.path()).join("stack");
        if !stack.is_dir() {
            let packs = offer::folders_with(&root.join(driver.path()), "stack");
            let otherwise = format!("put its files in `{}`", stack.display());
            let help = offer::offer(pack.as_str(), "packs", packs, otherwise);
            let message = format!("unknown pack `{pack}` of the driver `{driver}`");
            return Err(NotFound::new(message, help));
        }
        if !is_below(&stack, root) {
            let message =
                format!("the pack `{pack}` is a symlink that leads out of the packs root");
            return Err(NotFound::new(message, "copy its files into the packs root"));
        }
        Ok(stack)
    }

    /// The file of a profile: `drivers/<driver>/profiles/<profile>.profile.yml` of the release.
    pub fn profile(&self, driver: &Name, profile: &Name) -> Result<PathBuf, NotFound> {
        let file = format!("{profile}.profile.yml");
        let below = Path::new("drivers").join(driver.path()).join("profiles").join(&file);
        let candidates = self
            .releases
            .iter()
            .flat_map(|release| [release.join(&below), release.join("hyops").join(&below)]);
        candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| {
            let otherwise = format!("add it as `{}`, next to `modules/`", below.display());
            let help = offer::offer(profile.as_str(), "profiles", self.profiles(driver), otherwise);
            NotFound::new(format!("the driver `{driver}` has no profile `{profile}`"), help)
        })
    }

    /// The directory that holds the modules root, where `packs/` and `drivers/` are too.
    pub(super) fn beside(&self) -> Option<PathBuf> {
        self.modules.canonicalize().ok()?.parent().map(Path::to_path_buf)
    }

    /// The profiles of a driver, by their names.
    pub(super) fn profiles(&self, driver: &Name) -> Vec<String> {
        let below = Path::new("drivers").join(driver.path()).join("profiles");
        let roots = self
            .releases
            .iter()
            .flat_map(|release| [release.join(&below), release.join("hyops").join(&below)]);
        roots.flat_map(|root| offer::files_ending(&root, ".profile.yml")).collect()
    }
}

/// Where opal is installed: `<release>/opal`, or `<release>/bin/opal`.
fn release(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?;
    let is_bin = folder.file_name().is_some_and(|name| name == "bin");
    Some(if is_bin { folder.parent()? } else { folder }.to_path_buf())
}

fn modules(hints: &Hints<'_>, release: Option<&Path>) -> Result<PathBuf, NotFound> {
    let typed = hints.module_root.map(|path| (path.to_path_buf(), "--module-root"));
    let named =
        typed.or_else(|| Some((PathBuf::from(hints.modules_variable?), "$HYOPS_MODULES_ROOT")));
    if let Some((path, from)) = named {
        return if path.is_dir() {
            Ok(path)
        } else {
            let message =
                format!("the directory `{}`, named by `{from}`, does not exist", path.display());
            Err(NotFound::new(message, "name the directory of the modules"))
        };
    }
    release.map(|release| release.join("modules")).filter(|path| path.is_dir()).ok_or_else(|| {
        NotFound::new(
            "no modules next to the installed opal".to_owned(),
            "name their directory with `--module-root DIR` or the variable `HYOPS_MODULES_ROOT`",
        )
    })
}

fn packs(variable: Option<&OsStr>, releases: &[PathBuf]) -> Result<PathBuf, NotFound> {
    if let Some(named) = variable.map(Path::new) {
        let inside = named.join("packs");
        let found = [inside.as_path(), named].into_iter().find(|path| path.is_dir());
        return found.map(Path::to_path_buf).ok_or_else(|| {
            let message = format!(
                "the directory `{}`, named by `$HYOPS_PACKS_ROOT`, does not exist",
                named.display()
            );
            NotFound::new(message, "name the directory of the packs, or unset the variable")
        });
    }
    releases.iter().map(|release| release.join("packs")).find(|path| path.is_dir()).ok_or_else(
        || {
            NotFound::new(
                "no packs next to the modules".to_owned(),
                "name their directory with the variable `HYOPS_PACKS_ROOT`",
            )
        },
    )
}

/// Whether a path stays below a directory when all links are followed.
pub(super) fn is_below(path: &Path, root: &Path) -> bool {
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(path), Ok(root)) => path.starts_with(root),
        _ => false,
    }
}
