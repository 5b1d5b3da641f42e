//! Packages of this machine: `plugins/<checksum>/` of the runtime root, and what was seen of indexes.
//!
//! A directory appears whole or not at all. What is in it is never trusted: opal computes the checksum of a
//! package whenever it reads one.

use std::fs::{self, DirBuilder};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use opal_core::hash::Digest;
use opal_files::regular;
use opal_plugins::installed::{INDEXES, STATEMENTS, index_file, kept};
use opal_plugins::package::{Mode, Package};
use opal_vault::root::{Root, RootError, Why, read_guarded};

use crate::format::MAX_STATEMENTS;
use crate::refusal::Refusal;

const FOLDER: &str = "plugins";
const SEEN: &str = "config";
const MAX_SEEN: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct Cache {
    root: Root,
}

impl Cache {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root: Root::new(root) }
    }

    /// Whether a package is here, with exactly the files that its checksum says.
    pub(crate) fn get(&self, checksum: &Digest) -> Option<Package> {
        let folder = self.root.guarded(FOLDER).ok()?;
        let package = Package::read(&kept(&folder, checksum)).ok()?;
        (package.checksum() == *checksum).then_some(package)
    }

    /// The statements that came with a package.
    pub(crate) fn statements(&self, checksum: &Digest) -> Option<Vec<u8>> {
        let file = kept(&self.root.guarded(FOLDER).ok()?, checksum).join(STATEMENTS);
        let file = regular::open(&file).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_STATEMENTS).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Keeps a package with the statements about it, in place of whatever has its name. One that is here is left
    /// where it is, because others may read it at this moment: it only gets the statements.
    pub(crate) fn put(&self, package: &Package, statements: Option<&[u8]>) -> Result<(), Refusal> {
        let folder = self.root.directory(FOLDER).map_err(|error| unusable(&error))?;
        let to = kept(&folder, &package.checksum());
        if self.get(&package.checksum()).is_some() {
            let Some(statements) = statements else { return Ok(()) };
            let inside = format!("{FOLDER}/{}", package.checksum().hex());
            let written = self.root.replace(&inside, STATEMENTS, statements);
            return written.map(drop).map_err(|error| unusable(&error));
        }
        let written = (|| {
            let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&folder)?;
            for (path, mode, bytes) in package.files() {
                write(&new.path().join(path.as_str()), mode, bytes)?;
            }
            if let Some(statements) = statements {
                write(&new.path().join(STATEMENTS), Mode::Plain, statements)?;
            }
            if to.symlink_metadata().is_ok() {
                let old = tempfile::Builder::new().prefix(".old-").tempdir_in(&folder)?;
                fs::rename(&to, old.path().join("old"))?;
            }
            fs::rename(new.keep(), &to)
        })();
        written.map_err(|error| Refusal::unwritten(&format!("`{}`", to.display()), &error))
    }

    /// Keeps the index of a registry as it was signed: it names the verifiers whose reports count.
    pub(crate) fn keep_index(&self, address: &str, line: &[u8]) -> Result<(), Refusal> {
        let folder = format!("{FOLDER}/{INDEXES}");
        let written = self.root.replace(&folder, &index_file(address), line);
        written.map(drop).map_err(|error| unusable(&error))
    }

    /// The highest number of an index that this machine has seen.
    pub(crate) fn seen(&self, address: &str) -> Result<u64, Refusal> {
        Ok(self
            .all_seen()?
            .into_iter()
            .find(|(it, _)| it == address)
            .map_or(0, |(_, number)| number))
    }

    pub(crate) fn see(&self, address: &str, number: u64) -> Result<(), Refusal> {
        let mut all = self.all_seen()?;
        all.retain(|(it, _)| it != address);
        all.push((address.to_owned(), number));
        all.sort();
        let lines: String =
            all.iter().map(|(address, number)| format!("{number} {address}\n")).collect();
        let written = self.root.replace(SEEN, "indexes", lines.as_bytes());
        written.map(drop).map_err(|error| unusable(&error))
    }

    fn all_seen(&self) -> Result<Vec<(String, u64)>, Refusal> {
        let bytes = match read_guarded(&self.root.path().join(SEEN).join("indexes"), MAX_SEEN) {
            Ok(bytes) => bytes,
            Err(RootError { why: Why::Missing | Why::NotADirectory, .. }) => return Ok(Vec::new()),
            Err(error) => return Err(unusable(&error)),
        };
        let line = |line: &str| {
            let (number, address) = line.split_once(' ')?;
            Some((address.to_owned(), number.parse().ok()?))
        };
        let all: Option<Vec<_>> = String::from_utf8_lossy(&bytes).lines().map(line).collect();
        all.ok_or_else(|| {
            let message = "`config/indexes` of the runtime root cannot be understood";
            Refusal::untrusted(message, "restore it: it says which indexes are too old")
        })
    }
}

fn write(path: &Path, mode: Mode, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let mode = if mode == Mode::Executable { 0o700 } else { 0o600 };
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}

fn unusable(error: &RootError) -> Refusal {
    let exit = if error.is_unsafe() { 77 } else { 74 };
    Refusal { exit, message: error.to_string(), help: error.help() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_package_that_is_here_stays_where_it_is_and_gets_new_statements() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().join("root"));
        let mut package = Package::default();
        package.add("opal.toml".parse().unwrap(), Mode::Plain, b"text".to_vec()).unwrap();
        let checksum = package.checksum();
        cache.put(&package, Some(b"one")).unwrap();
        let place = kept(&root.path().join("root").join(FOLDER), &checksum);
        let inode = || fs::metadata(&place).unwrap().ino();
        let before = inode();
        for (statements, found) in [(Some(&b"two"[..]), "two"), (None, "two")] {
            cache.put(&package, statements).unwrap();
            assert_eq!(cache.statements(&checksum).unwrap(), found.as_bytes());
            assert_eq!(inode(), before);
        }
        // What is not the package any more is replaced as a whole.
        fs::write(place.join("opal.toml"), "other").unwrap();
        cache.put(&package, None).unwrap();
        assert_eq!(cache.get(&checksum).unwrap().checksum(), checksum);
        assert!(cache.statements(&checksum).is_none() && inode() != before);
    }
}
