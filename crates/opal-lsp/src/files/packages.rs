//! The decorators that the files of a project may name: those of opal, and those of the packages that its
//! `opal.mod` wants and its `opal.lock` has. Only manifests are read.

use std::path::{Path, PathBuf};

use opal_core::{Code, Registry};
use opal_plugins::installed::LoadError;
use opal_plugins::installed::{self, Installed, Store};
use opal_plugins::lock::{self, Lock};
use opal_plugins::names::Version;
use opal_plugins::project;

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
    /// How often the disk has changed.
    looks: u64,
}

#[derive(Debug)]
struct Project {
    file: PathBuf,
    stamps: [Stamp; 2],
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
        Self { built_in, cache, core, projects: Vec::new(), looks: 0 }
    }

    pub(crate) fn look_again(&mut self) {
        self.looks += 1;
    }

    /// The decorators that a file may name.
    pub(crate) fn registry(&mut self, path: &Path, disk: &Disk) -> &'static Registry {
        let Some(file) = self.file(path, disk) else { return self.built_in };
        let at = self.projects.iter().position(|it| it.file == file);
        if let Some(known) = at.map(|at| &self.projects[at])
            && known.looks == self.looks
        {
            return known.registry;
        }
        let stamps = [disk.stamp(&file), disk.stamp(&file.with_file_name(lock::FILE))];
        if let Some(known) = at.map(|at| &mut self.projects[at])
            && known.stamps == stamps
            && known.trouble.is_none()
        {
            known.looks = self.looks;
            return known.registry;
        }
        let (registry, trouble) = match self.load(&file, disk) {
            // A registry lasts as long as the server: descriptors live in static memory.
            Ok(Some(registry)) => (&*Box::leak(Box::new(registry)), None),
            Ok(None) => (self.built_in, None),
            Err(trouble) => (self.built_in, Some(trouble)),
        };
        let text = disk.read(&file, MOST_BYTES).ok().and_then(|it| String::from_utf8(it).ok());
        let providers = text.and_then(|text| project::providers(&text).ok()).unwrap_or_default();
        let unknown = providers.into_iter().map(|it| it.segment).collect();
        let project = Project { file, stamps, looks: self.looks, registry, trouble, unknown };
        match at {
            Some(at) => self.projects[at] = project,
            None => self.projects.push(project),
        }
        registry
    }

    fn file(&self, path: &Path, disk: &Disk) -> Option<PathBuf> {
        Some(disk.around(path.parent()?, &[MOD])?.join(MOD))
    }

    /// The registry with the packages of a project; none where it has no packages.
    fn load(&self, file: &Path, disk: &Disk) -> Result<Option<Registry>, String> {
        let read = |path: &Path| {
            disk.read(path, MOST_BYTES).ok().and_then(|it| String::from_utf8(it).ok())
        };
        let Some(text) = read(file).filter(|text| project::mentions_plugins(text)) else {
            return Ok(None);
        };
        let wanted = project::wanted(&text).map_err(|error| error.message)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let lock = read(&file.with_file_name(lock::FILE)).map(|text| Lock::parse(&text));
        let lock = lock.transpose().map_err(|error| error.message)?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        for one in &wanted {
            // A directory outside the workspace is not read, and neither is what a link leads to.
            if let opal_plugins::address::Address::Directory(key) = &one.address
                && !disk.contains(&disk.real(&folder.join(key.as_str())))
            {
                return Err(format!("the package `{}` is outside the workspace", one.key));
            }
        }
        let store =
            Store { lock: lock.as_ref(), folder: self.cache.as_deref(), ..Store::default() };
        let all = Installed::all(folder, wanted, store, self.built_in, &self.core);
        let all = all.map_err(|error| said(&error))?;
        let registry = installed::registry(opal_decorators::BUILT_IN, &all);
        registry.map(Some).map_err(|error| said(&error))
    }

    /// Says why decorators of packages are not known, where they are not.
    pub(crate) fn explain(&self, path: &Path, disk: &Disk, analysis: &mut Analysis) {
        let Some(file) = self.file(path, disk) else { return };
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
                format!("its packages could not be read: {trouble}"),
                "install what `opal.mod` wants: `opal plugin install`".to_owned(),
            ];
        }
    }
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
