//! The decorators that the files of a project may name: those of opal, and those of the packages that its
//! `opal.mod` wants and its `opal.lock` has. Only manifests are read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use opal_core::{Code, Registry};
use opal_plugins::address::Address;
use opal_plugins::capability::Capability;
use opal_plugins::installed::LoadError;
use opal_plugins::installed::{self, Installed, Store};
use opal_plugins::lock::{self, Lock};
use opal_plugins::names::Version;
use opal_plugins::project::{self, Wanted};

use crate::analysis::Analysis;
use crate::disk::{Disk, Stamp};

const MOD: &str = "opal.mod";
/// Bytes of an `opal.mod` or an `opal.lock`.
const MOST_BYTES: u64 = 256 * 1024;

#[derive(Debug)]
pub(crate) struct Packages {
    built_in: &'static Registry,
    /// The packages of registries and git on this machine.
    cache: Option<PathBuf>,
    core: Version,
    projects: Vec<Project>,
    /// Registries by the packages in them: they last as long as the server, because descriptors live in
    /// static memory.
    made: Vec<(Vec<Made>, &'static Registry)>,
    /// How often the disk has changed.
    looks: u64,
}

/// All that makes a difference to the decorators of a package.
#[derive(Debug, PartialEq, Eq)]
struct Made {
    directory: PathBuf,
    checksum: String,
    source: String,
    signed_by: Option<String>,
    alias: Option<String>,
    allow: Option<BTreeSet<Capability>>,
}

impl Made {
    fn of(one: &Installed) -> Self {
        Self {
            directory: one.directory.clone(),
            checksum: one.checksum.hex(),
            source: one.source(),
            signed_by: one.signed_by.clone(),
            alias: one.wanted.alias.clone(),
            allow: one.wanted.allow.clone(),
        }
    }
}

#[derive(Debug)]
struct Project {
    file: PathBuf,
    /// The files that say which packages there are, and the files of packages in the workspace.
    stamps: Vec<(PathBuf, Stamp)>,
    /// The directories of its other packages, in the cache: their names are their checksums.
    kept: Vec<PathBuf>,
    looks: u64,
    registry: &'static Registry,
    /// Why the packages cannot be read.
    trouble: Option<String>,
    /// The first segments of Terraform providers: only their programs say what they have.
    unknown: Vec<String>,
}

impl Packages {
    pub(crate) fn new(cache: Option<PathBuf>, core: &str) -> Self {
        let built_in: &'static Registry = Box::leak(Box::new(opal_decorators::registry()));
        let core = core.parse().unwrap_or_else(|_| Version::new(0, 0, 0));
        Self { built_in, cache, core, projects: Vec::new(), made: Vec::new(), looks: 0 }
    }

    pub(crate) fn look_again(&mut self) {
        self.looks += 1;
    }

    /// The decorators that a file may name.
    pub(crate) fn registry(&mut self, path: &Path, disk: &Disk) -> &'static Registry {
        let Some(file) = file(path, disk).filter(|file| disk.contains(file)) else {
            return self.built_in;
        };
        let at = self.projects.iter().position(|it| it.file == file);
        if let Some(known) = at.map(|at| &mut self.projects[at]) {
            let is_same = |(path, stamp): &(PathBuf, Stamp)| disk.stamp(path) == *stamp;
            if known.looks == self.looks
                || known.trouble.is_none()
                    && known.stamps.iter().all(is_same)
                    && known.kept.iter().all(|path| disk.is_there(path))
            {
                known.looks = self.looks;
                return known.registry;
            }
        }
        let project = self.project(file, disk);
        let registry = project.registry;
        match at {
            Some(at) => self.projects[at] = project,
            None => self.projects.push(project),
        }
        registry
    }

    /// What the project with this `opal.mod` has now.
    fn project(&mut self, file: PathBuf, disk: &Disk) -> Project {
        let stamped = |path: PathBuf| {
            let stamp = disk.stamp(&path);
            (path, stamp)
        };
        let own = [file.clone(), file.with_file_name(lock::FILE)];
        let mut stamps: Vec<_> = own.into_iter().map(stamped).collect();
        let mut kept = Vec::new();
        let (registry, trouble) = match self.load(&file, disk) {
            Ok((all, trouble)) => {
                let (local, cached): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.is_local());
                stamps.extend(local.into_iter().flat_map(files).map(stamped));
                kept.extend(cached.into_iter().map(|one| one.directory.clone()));
                match self.made(&all) {
                    Ok(registry) => (registry, trouble),
                    Err(error) => (self.built_in, Some(said(&error))),
                }
            }
            Err(trouble) => (self.built_in, Some(trouble)),
        };
        let text = disk.read(&file, MOST_BYTES).ok().and_then(|it| String::from_utf8(it).ok());
        let providers = text.and_then(|text| project::providers(&text).ok()).unwrap_or_default();
        let unknown = providers.into_iter().map(|it| it.segment).collect();
        Project { file, stamps, kept, looks: self.looks, registry, trouble, unknown }
    }

    /// The registry with these packages: the same one as long as they are the same.
    fn made(&mut self, all: &[Installed]) -> Result<&'static Registry, LoadError> {
        if all.is_empty() {
            return Ok(self.built_in);
        }
        let packages: Vec<Made> = all.iter().map(Made::of).collect();
        if let Some((_, made)) = self.made.iter().find(|(known, _)| *known == packages) {
            return Ok(*made);
        }
        let made = installed::registry(opal_decorators::BUILT_IN, all)?;
        let made: &'static Registry = Box::leak(Box::new(made));
        self.made.push((packages, made));
        Ok(made)
    }

    /// The packages of a project that can be read, and why others cannot.
    fn load(&self, file: &Path, disk: &Disk) -> Result<(Vec<Installed>, Option<String>), String> {
        let read = |path: &Path| {
            disk.read(path, MOST_BYTES).ok().and_then(|it| String::from_utf8(it).ok())
        };
        let Some(text) = read(file).filter(|text| project::mentions_plugins(text)) else {
            return Ok((Vec::new(), None));
        };
        let mut wanted = project::wanted(&text).map_err(|error| error.message)?;
        if wanted.is_empty() {
            return Ok((Vec::new(), None));
        }
        let lock = read(&file.with_file_name(lock::FILE)).map(|text| Lock::parse(&text));
        let lock = lock.transpose().map_err(|error| error.message)?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        // A directory outside the workspace is not read, and neither is what a link leads to.
        let is_outside = |one: &Wanted| match &one.address {
            Address::Directory(key) => !disk.contains(&disk.real(&folder.join(key.as_str()))),
            _ => false,
        };
        let outside = wanted.iter().find(|one| is_outside(one));
        let outside =
            outside.map(|one| format!("the package `{}` is outside the workspace", one.key));
        wanted.retain(|one| !is_outside(one));
        let store =
            Store { lock: lock.as_ref(), folder: self.cache.as_deref(), ..Store::default() };
        let (all, trouble) = Installed::described(folder, wanted, store, self.built_in, &self.core);
        Ok((all, outside.or(trouble.map(|error| said(&error)))))
    }

    /// Says why decorators of packages are not known, where they are not.
    pub(crate) fn explain(&self, path: &Path, disk: &Disk, analysis: &mut Analysis) {
        let Some(file) = file(path, disk) else { return };
        if !disk.contains(&file) {
            // The project begins above the workspace, and nobody knows what packages it has.
            for file in &mut analysis.found {
                file.findings.retain(|it| {
                    it.diagnostic.code != Code::UnknownDecorator || it.diagnostic.fix.is_some()
                });
            }
            return;
        }
        let Some(project) = self.projects.iter().find(|it| it.file == file) else { return };
        for segment in &project.unknown {
            let start = format!("`@{segment}.");
            for file in &mut analysis.found {
                file.findings.retain(|it| {
                    let is_unknown = it.diagnostic.code == Code::UnknownDecorator;
                    !(is_unknown && it.diagnostic.message.contains(&start))
                });
            }
        }
        let Some(trouble) = project.trouble.as_deref() else { return };
        for finding in analysis.found.iter_mut().flat_map(|it| &mut it.findings) {
            let found = &mut finding.diagnostic;
            if found.code != Code::UnknownDecorator || found.fix.is_some() {
                continue;
            }
            found.help = vec![
                format!("not all of its packages could be read: {trouble}"),
                "install what `opal.mod` wants: `opal plugin install`".to_owned(),
            ];
        }
    }
}

/// The `opal.mod` beside a file or above it, as a run finds it.
fn file(path: &Path, disk: &Disk) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| folder.is_absolute())?;
    folder.ancestors().map(|folder| folder.join(MOD)).find(|file| disk.is_there(file))
}

/// The files of a package, and the directories that have them.
fn files(one: &Installed) -> Vec<PathBuf> {
    let own = one.package().paths().map(|path| one.directory.join(path.as_str()));
    let mut all: Vec<PathBuf> = own.collect();
    let folders: Vec<PathBuf> = all.iter().filter_map(|it| Some(it.parent()?.to_owned())).collect();
    all.extend(folders);
    all.sort();
    all.dedup();
    all
}

/// What is wrong with the packages of a project, in a few words.
fn said(error: &LoadError) -> String {
    match error {
        LoadError::Mod(error) => error.message.clone(),
        LoadError::Lock(error) => error.message.clone(),
        LoadError::Missing { key } => format!("the package `{key}` does not exist"),
        LoadError::NotInstalled { name, version } => {
            format!("the package {name} {version} is not installed on this machine")
        }
        LoadError::Untrusted { message, .. }
        | LoadError::Unavailable { message, .. }
        | LoadError::Conflict { message, .. } => message.clone(),
        LoadError::Package { key, why } => format!("`{key}` is not a package: {why}"),
        LoadError::Manifest { directory, .. } => {
            format!("the manifest in `{}` has errors", directory.display())
        }
    }
}
