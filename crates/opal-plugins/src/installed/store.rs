//! Where the files of a package are on this machine: in the project, or in the cache.

use std::path::{Path, PathBuf};

use opal_core::hash::Digest;
use opal_vault::root::Root;

use super::Installed;
use super::bundles::Trust;
use super::error::LoadError;
use crate::address::{Address, Source};
use crate::lock::{Lock, Locked};
use crate::names::Requirement;
use crate::project::Wanted;

/// What a project has locked, and where packages are kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Store<'a> {
    pub lock: Option<&'a Lock>,
    /// `plugins` of the runtime root.
    pub folder: Option<&'a Path>,
    pub root: Option<&'a Root>,
    pub trust: Option<&'a dyn Trust>,
    /// The lock has just been made, and says nothing yet about publishers of new packages.
    pub is_new: bool,
}

/// The directory of a package in the cache: its checksum is its name.
#[must_use]
pub fn kept(folder: &Path, checksum: &Digest) -> PathBuf {
    folder.join(checksum.hex())
}

impl<'a> Store<'a> {
    /// What is locked for a key of `opal.mod`; none for a directory.
    pub(super) fn locked(&self, wanted: &Wanted) -> Result<Option<&'a Locked>, LoadError> {
        let is_it = |locked: &&&Locked| match (&wanted.address, Source::parse(&locked.source)) {
            (Address::Registry(name), Some(Source::Registry(_))) => locked.name == *name,
            (Address::Git(repository), Some(Source::Git(git))) => git.repository == *repository,
            _ => false,
        };
        if let Address::Directory(_) = wanted.address {
            return Ok(None);
        }
        let all = self.lock.map_or(&[][..], |lock| &lock.packages);
        let missing = || LoadError::Conflict {
            message: format!("`opal.lock` does not have `{}`", wanted.key),
            help: "write it again with `opal plugin install`, and commit it".to_owned(),
        };
        all.iter().find(|locked| is_it(&locked)).map(Some).ok_or_else(missing)
    }

    /// The directory that a locked package is in.
    pub(super) fn directory(&self, locked: &Locked) -> Result<PathBuf, LoadError> {
        let (name, version) = (locked.name.clone(), locked.version.clone());
        let Some(checksum) = &locked.checksum else {
            return Err(LoadError::Conflict {
                message: format!("`opal.lock` has no checksum of {name} {version}"),
                help: "write it again with `opal plugin update`, and commit it".to_owned(),
            });
        };
        let directory = self.folder.map(|folder| kept(folder, checksum));
        let directory = directory.filter(|it| it.is_dir());
        directory.ok_or(LoadError::NotInstalled { name, version })
    }

    /// What is locked, is not in `opal.mod`, and is needed by what is: the packages that packages need.
    pub(super) fn needed(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        let Some(lock) = self.lock else { return Vec::new() };
        let mut reached: Vec<&Locked> = Vec::new();
        let is_direct = |locked: &&Locked| {
            wanted.iter().any(|it| match &it.address {
                Address::Directory(key) => locked.source == format!("local+{key}"),
                _ => self.locked(it).is_ok_and(|found| found == Some(*locked)),
            })
        };
        let mut left: Vec<&Locked> = lock.packages.iter().filter(is_direct).collect();
        while let Some(one) = left.pop() {
            if !reached.contains(&one) {
                reached.push(one);
                left.extend(one.requires.iter().filter_map(|name| lock.get(name)));
            }
        }
        let is_more = |locked: &&Locked| !is_direct(locked);
        let is_kept =
            |locked: &&Locked| matches!(Source::parse(&locked.source), Some(Source::Registry(_)));
        let mut more: Vec<Wanted> = reached
            .into_iter()
            .filter(is_more)
            .filter(is_kept)
            .map(|locked| {
                let address = Address::Registry(locked.name.clone());
                let version = Requirement::any(&locked.version.to_string());
                Wanted { is_needed: true, ..Wanted::plain(&locked.name, address, version) }
            })
            .collect();
        more.sort_by(|a, b| a.key.cmp(&b.key));
        more
    }
}

impl Installed {
    /// Whether a package of a registry is from the one that its namespace belongs to.
    pub fn belongs(&self, registries: &[(String, String)]) -> Result<(), LoadError> {
        let Source::Registry(address) = &self.origin else { return Ok(()) };
        let of = |space: &str| registries.iter().find(|(name, _)| name == space);
        let space = self.name().split('/').next().unwrap_or_default();
        let default = || of("default").filter(|_| !self.wanted.is_needed);
        match of(space).or_else(default) {
            Some((_, expected)) if expected == address => Ok(()),
            found => {
                let expected = found.map_or("no registry", |(_, expected)| expected.as_str());
                let name = self.name();
                let message = format!(
                    "`opal.lock` has {name} from {address}, and `{space}` belongs to {expected}"
                );
                let help = "correct `[registries]`, or run `opal plugin install`".to_owned();
                Err(LoadError::Conflict { message, help })
            }
        }
    }
}
