//! A package in a directory, read from descriptors, name by name. A link is refused and never followed.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use opal_files::beneath;
use rustix::fs::{AtFlags, Dir, FileType, Mode as Open, OFlags};
use rustix::io::Errno;

use super::{DIRECTORIES, FILES, MAX_BYTES, Mode, Package, PackagePath};
use crate::error::PackageError;

/// Names that are read in one directory, whatever they are.
const MAX_NAMES: usize = 20_000;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Package {
    /// The package at a path. What is beside it in the directory is left out.
    pub fn read(directory: &Path) -> Result<Self, PackageError> {
        let failed = |error: std::io::Error| PackageError::Unreadable {
            path: directory.display().to_string(),
            why: error.kind(),
        };
        let top = beneath::directory(directory).map_err(failed)?;
        let mut package = Self::default();
        for name in FILES.into_iter().chain(DIRECTORIES) {
            package.take(top.as_fd(), name.parse()?)?;
        }
        Ok(package)
    }

    /// What is at a path, where something is; `top` is the directory that the name is in.
    fn take(&mut self, directory: BorrowedFd<'_>, path: PackagePath) -> Result<(), PackageError> {
        let failed =
            |errno: Errno| PackageError::Unreadable { path: path.to_string(), why: errno.kind() };
        let name = path.as_str().rsplit('/').next().unwrap_or_default();
        let found = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            found => found.map_err(failed)?,
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {
                let bytes = self.content(directory, name, &path)?;
                self.add(path, Mode::of(found.st_mode), bytes)
            }
            FileType::Directory => {
                let inner = rustix::fs::openat(directory, name, DIRECTORY, Open::empty());
                self.descend(&inner.map_err(failed)?, &path)
            }
            _ => Err(PackageError::Irregular(path)),
        }
    }

    fn descend(&mut self, directory: &OwnedFd, path: &PackagePath) -> Result<(), PackageError> {
        let failed =
            |errno: Errno| PackageError::Unreadable { path: path.to_string(), why: errno.kind() };
        let mut names = Vec::new();
        for entry in Dir::read_from(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy();
            if !matches!(&*name, "." | "..") {
                names.push(format!("{path}/{name}"));
            }
            if names.len() > MAX_NAMES {
                return Err(PackageError::TooMany);
            }
        }
        names.sort_unstable();
        names.into_iter().try_for_each(|name| self.take(directory.as_fd(), name.parse()?))
    }

    fn content(
        &self,
        directory: BorrowedFd<'_>,
        name: &str,
        path: &PackagePath,
    ) -> Result<Vec<u8>, PackageError> {
        let failed = |why: ErrorKind| PackageError::Unreadable { path: path.to_string(), why };
        let opened = beneath::open(directory, Path::new(name));
        let file: File = opened.map_err(|error| failed(error.kind()))?.file;
        let mut bytes = Vec::new();
        let left = MAX_BYTES - self.bytes;
        file.take(left + 1).read_to_end(&mut bytes).map_err(|error| failed(error.kind()))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mkfifoat};

    use super::*;

    fn example() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("opal.toml"), "[package]\n").unwrap();
        fs::create_dir_all(folder.path().join("decorators/more")).unwrap();
        fs::write(folder.path().join("decorators/more/a.opl"), "").unwrap();
        folder
    }

    #[test]
    fn what_is_beside_a_package_is_not_part_of_it() {
        let folder = example();
        let before = Package::read(folder.path()).unwrap();
        fs::create_dir(folder.path().join("target")).unwrap();
        fs::write(folder.path().join("target/a b"), "").unwrap();
        symlink("/etc", folder.path().join("src")).unwrap();
        let after = Package::read(folder.path()).unwrap();
        let paths: Vec<&str> = after.paths().map(PackagePath::as_str).collect();
        assert_eq!(paths, ["decorators/more/a.opl", "opal.toml"]);
        assert_eq!(before.checksum(), after.checksum());
    }

    #[test]
    fn a_symlink_is_refused_wherever_it_is() {
        for name in ["decorators/a.opl", "decorators/more/etc", "README.md", "plugins"] {
            let folder = example();
            symlink("/etc/passwd", folder.path().join(name)).unwrap();
            let read = Package::read(folder.path());
            assert!(matches!(read, Err(PackageError::Irregular(_))), "{name}");
        }
    }

    #[test]
    fn a_pipe_is_refused_at_once() {
        let folder = example();
        let pipe = folder.path().join("decorators/pipe.opl");
        mkfifoat(CWD, &pipe, Open::RUSR).unwrap();
        assert!(matches!(Package::read(folder.path()), Err(PackageError::Irregular(_))));
    }

    #[test]
    fn names_that_differ_by_case_are_refused() {
        let folder = example();
        fs::write(folder.path().join("decorators/More"), "").unwrap();
        assert!(matches!(Package::read(folder.path()), Err(PackageError::Twice(_))));
    }

    #[test]
    fn a_byte_more_than_64_mib_is_refused() {
        let folder = example();
        let large = File::create(folder.path().join("decorators/large")).unwrap();
        large.set_len(MAX_BYTES - 10).unwrap();
        assert!(Package::read(folder.path()).is_ok());
        large.set_len(MAX_BYTES - 9).unwrap();
        assert!(matches!(Package::read(folder.path()), Err(PackageError::TooLarge)));
    }
}
