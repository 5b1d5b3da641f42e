//! The runtime root: the one directory that runs of modules write into.
//!
//! It is named by `--root`, by `$HYOPS_RUNTIME_ROOT`, or is `~/.hybridops`. It is never looked for:
//! where a command is started, and whether that is a repository, does not matter.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::file::{self, Unkept};
use super::id::{Instance, RunId};
use super::target::Target;
use crate::{ModuleRef, NotFound};

/// At most this many instances are read.
const MOST_STATES: usize = 1_000;

const FOLDERS: [&str; 7] = ["config", "credentials", "vault", "meta", "logs", "state", "work"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeRoot(PathBuf);

impl RuntimeRoot {
    /// The root of `--root`, of the variable, or below the home directory, in this order. An empty
    /// variable counts as none.
    pub fn find(
        typed: Option<&Path>,
        variable: Option<&OsStr>,
        home: Option<&Path>,
    ) -> Result<Self, NotFound> {
        let home = home.filter(|home| home.is_absolute());
        let variable = variable.filter(|text| !text.is_empty()).map(Path::new);
        let named = match (typed, variable) {
            (Some(typed), _) => Some(typed),
            (None, variable) => variable,
        };
        let path = match (named, home) {
            // A shell leaves `~` alone in quotes, and nobody means a directory of that name.
            (Some(named), Some(home)) => match named.strip_prefix("~") {
                Ok(below) => home.join(below),
                Err(_) => named.to_path_buf(),
            },
            (Some(named), None) => named.to_path_buf(),
            (None, Some(home)) => home.join(".hybridops"),
            (None, None) => PathBuf::new(),
        };
        std::path::absolute(path).map(Self).map_err(|_| NotFound {
            message: "no directory for runs".to_owned(),
            help: "name one with `--root DIR` or the variable `HYOPS_RUNTIME_ROOT`".to_owned(),
        })
    }

    /// Makes the root and its directories where they are missing. A directory that another user
    /// could write to is refused: it must be ours or the administrator's, and nobody but its owner
    /// may write into it.
    pub fn ensure(&self) -> Result<(), Unkept> {
        make(&self.0)?;
        FOLDERS.iter().try_for_each(|folder| make(&self.0.join(folder)))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The settings of a target.
    #[must_use]
    pub fn config(&self, target: &Target) -> PathBuf {
        self.0.join("config").join(format!("{}.yml", target.name))
    }

    #[must_use]
    pub fn credentials(&self) -> PathBuf {
        self.0.join("credentials")
    }

    #[must_use]
    pub fn vault(&self) -> PathBuf {
        self.0.join("vault")
    }

    /// What a run may write into; the copy of its pack is `stack` below it.
    #[must_use]
    pub fn work(&self, module: &ModuleRef, run: &RunId) -> PathBuf {
        self.0.join("work").join(module.id()).join(run.as_str())
    }

    /// The evidence of a run; `out_dir` takes the place of `logs`.
    #[must_use]
    pub fn module_evidence(
        &self,
        module: &ModuleRef,
        run: &RunId,
        out_dir: Option<&Path>,
    ) -> PathBuf {
        self.logs(out_dir).join("module").join(module.id()).join(run.as_str())
    }

    #[must_use]
    pub fn init_evidence(&self, target: &Target, run: &RunId, out_dir: Option<&Path>) -> PathBuf {
        self.logs(out_dir).join("init").join(target.name).join(run.as_str())
    }

    fn logs(&self, out_dir: Option<&Path>) -> PathBuf {
        out_dir.map_or_else(|| self.0.join("logs"), Path::to_path_buf)
    }

    /// The state of a module, or of one instance of it.
    #[must_use]
    pub fn state(&self, module: &ModuleRef, instance: Option<&Instance>) -> PathBuf {
        let folder = self.0.join("state").join("modules").join(module.id());
        match instance {
            Some(instance) => folder.join("instances").join(format!("{instance}.json")),
            None => folder.join("latest.json"),
        }
    }

    /// The lists of what runs of a module have in clear.
    pub(super) fn exposed(&self, module: &ModuleRef) -> PathBuf {
        self.0.join("state").join("exposed").join(module.id())
    }

    /// All states of a module that there are: that without an instance first, then by name.
    #[must_use]
    pub fn states(&self, module: &ModuleRef) -> Vec<PathBuf> {
        let latest = self.state(module, None);
        let folder = latest.with_file_name("instances");
        let mut instances: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .take(MOST_STATES)
            .collect();
        instances.sort();
        std::iter::once(latest).chain(instances).collect()
    }

    /// The file that is there as long as a target is ready.
    #[must_use]
    pub fn ready(&self, target: &Target) -> PathBuf {
        self.0.join("meta").join(format!("{}.ready.json", target.name))
    }

    #[must_use]
    pub fn stamp(&self) -> PathBuf {
        self.0.join("meta").join("runtime.json")
    }
}

fn make(path: &Path) -> Result<(), Unkept> {
    let made = file::folder(path).and_then(|()| path.metadata());
    let metadata = made.map_err(|error| Unkept::new(path, error))?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    let why = if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        format!("it belongs to another user (uid {owner})")
    } else if mode & 0o022 != 0 {
        // The sticky bit keeps others from removing what is there, not from adding to it.
        let path = path.display();
        format!("it is writable by other users (mode {mode:04o}); run `chmod 700 {path}`")
    } else {
        return Ok(());
    };
    Err(Unkept::new(path, io::Error::new(io::ErrorKind::PermissionDenied, why)))
}
