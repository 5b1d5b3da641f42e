//! A package as files: which belong to it, under which names, and the checksum of all of them.
//!
//! A package is small enough to be held in memory, and is: what was hashed is what is used, whoever
//! changes a file meanwhile. The checksum is the same for a directory, an archive and a git tree.

mod crossing;
mod directory;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use opal_core::hash::{Algorithm, Digest};

use crate::error::PackageError;

/// Bytes of all files together, and files.
pub const MAX_BYTES: u64 = 64 << 20;
pub const MAX_FILES: usize = 10_000;

/// Bytes of a path.
const MAX_PATH: usize = 255;

/// The first line of what the checksum is computed from.
const HEAD: &str = "opal-package-v1\n";

/// What a package consists of. Whatever else is beside it, sources and build directories, is not part
/// of it.
const FILES: [&str; 4] = ["LICENSE", "README.md", "dim.yaml", "opal.toml"];
const DIRECTORIES: [&str; 4] = ["decorators", "plugins", "schemas", "tests"];

/// A path inside a package: parts of letters, digits and `._+@-`, with `/` between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackagePath(String);

impl PackagePath {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can be in a package at all.
    fn is_part(&self) -> bool {
        match self.0.split_once('/') {
            None => FILES.contains(&self.0.as_str()),
            Some((directory, _)) => DIRECTORIES.contains(&directory),
        }
    }

    /// The directories above it.
    fn above(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(at, _)| &self.0[..at])
    }
}

impl FromStr for PackagePath {
    type Err = PackageError;

    fn from_str(path: &str) -> Result<Self, PackageError> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._+@/-".contains(c);
        let is_component = |part: &str| !matches!(part, "" | "." | "..");
        let is_fine = path.len() <= MAX_PATH
            && path.chars().all(is_allowed)
            && path.split('/').all(is_component);
        match is_fine {
            true => Ok(Self(path.to_owned())),
            false => Err(PackageError::Path(path.to_owned())),
        }
    }
}

impl fmt::Display for PackagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a path of a tree is in a package at all; it may still be one that a package cannot have.
#[must_use]
pub fn belongs(path: &str) -> bool {
    match path.split_once('/') {
        None => FILES.contains(&path) || DIRECTORIES.contains(&path),
        Some((directory, _)) => DIRECTORIES.contains(&directory),
    }
}

/// The permissions that a file of a package can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Plain,
    Executable,
}

impl Mode {
    /// Of whatever permissions: as git keeps them, whether the owner may execute it.
    #[must_use]
    pub const fn of(mode: u32) -> Self {
        if mode & 0o100 == 0 { Self::Plain } else { Self::Executable }
    }

    /// As checksums and archives write it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Plain => "644",
            Self::Executable => "755",
        }
    }
}

#[derive(Debug)]
struct File {
    mode: Mode,
    digest: Digest,
    bytes: Vec<u8>,
}

/// All files of a package.
#[derive(Debug, Default)]
pub struct Package {
    files: BTreeMap<PackagePath, File>,
    /// Without regard to case: of files, and of the directories above them.
    names: BTreeSet<String>,
    directories: BTreeSet<String>,
    bytes: u64,
}

impl Package {
    /// Adds a file. Whether the package is whole is known only after the last one.
    pub fn add(
        &mut self,
        path: PackagePath,
        mode: Mode,
        bytes: Vec<u8>,
    ) -> Result<(), PackageError> {
        if !path.is_part() {
            return Err(PackageError::Foreign(path));
        }
        if self.files.len() == MAX_FILES {
            return Err(PackageError::TooMany);
        }
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_BYTES {
            return Err(PackageError::TooLarge);
        }
        let folded = path.as_str().to_ascii_lowercase();
        let folded = PackagePath(folded);
        let is_below_file = folded.above().any(|above| self.names.contains(above));
        if is_below_file || self.directories.contains(folded.as_str()) {
            return Err(PackageError::Twice(path));
        }
        self.directories.extend(folded.above().map(str::to_owned));
        if !self.names.insert(folded.0) {
            return Err(PackageError::Twice(path));
        }
        let digest = Algorithm::Sha256.digest(&[&bytes]);
        self.files.insert(path, File { mode, digest, bytes });
        Ok(())
    }

    /// The content of a file.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        let path = PackagePath(path.to_owned());
        self.files.get(&path).map(|file| file.bytes.as_slice())
    }

    /// The paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &PackagePath> {
        self.files.keys()
    }

    /// All files, in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&PackagePath, Mode, &[u8])> {
        self.files.iter().map(|(path, file)| (path, file.mode, file.bytes.as_slice()))
    }

    /// The line `opal-package-v1` and a line for each file, `<sha256> <mode> <path>`, in the order of these
    /// lines.
    #[must_use]
    pub fn list(&self) -> String {
        let line = |(path, file): (&PackagePath, &File)| {
            format!("{} {} {path}\n", file.digest.hex(), file.mode.text())
        };
        let mut lines: Vec<String> = self.files.iter().map(line).collect();
        lines.sort_unstable();
        [HEAD, &lines.concat()].concat()
    }

    /// SHA-256 of the list of files, so whoever signs that list has signed the package.
    #[must_use]
    pub fn checksum(&self) -> Digest {
        Algorithm::Sha256.digest(&[self.list().as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> PackagePath {
        text.parse().unwrap()
    }

    fn package(files: &[(&str, Mode, &str)]) -> Package {
        let mut package = Package::default();
        for (name, mode, content) in files {
            package.add(path(name), *mode, content.as_bytes().to_vec()).unwrap();
        }
        package
    }

    #[test]
    fn a_path_that_could_lead_out_or_hide_something_is_refused() {
        let long = format!("tests/{}", "x".repeat(250));
        for refused in [
            "",
            "/",
            "/opal.toml",
            "../opal.toml",
            "tests/../../x",
            "tests//x",
            "tests/./x",
            "tests/",
            "tests/a b",
            "tests/a\nb",
            "tests/a\\b",
            "tests/ä",
            "tests/a\0",
            "tests/a\u{202e}b",
            &long,
        ] {
            assert!(refused.parse::<PackagePath>().is_err(), "{refused:?}");
        }
        for allowed in ["opal.toml", "decorators/a.opl", "plugins/x+y@1.0-rc_1.wasm", "tests/..a"] {
            assert_eq!(path(allowed).as_str(), allowed);
        }
    }

    #[test]
    fn what_is_there_twice_without_regard_to_case_is_refused() {
        for (first, second) in [
            ("tests/a", "tests/a"),
            ("tests/a", "tests/A"),
            ("Tests/a", "tests/a"),
            ("tests/a", "tests/a/b"),
            ("tests/a/b", "tests/a"),
            ("tests/A/b", "tests/a"),
            ("tests/a", "tests/A/b"),
        ] {
            let mut package = Package::default();
            let added = [first, second].map(|it| package.add(path(it), Mode::Plain, Vec::new()));
            assert!(added.iter().any(Result::is_err), "{first} {second}");
        }
        package(&[("tests/A/b", Mode::Plain, ""), ("tests/a/c", Mode::Plain, "")]);
    }

    #[test]
    fn what_is_not_part_of_a_package_is_refused() {
        for foreign in ["src/lib.rs", "Cargo.toml", ".git/config", "decorators", "install.sh"] {
            let added = Package::default().add(path(foreign), Mode::Plain, Vec::new());
            assert!(matches!(added, Err(PackageError::Foreign(_))), "{foreign}");
        }
    }

    /// Computed by `sha256sum` and `sort`, as the specification says it.
    #[test]
    fn the_checksum_is_that_of_the_sorted_lines() {
        let one = [
            ("opal.toml", Mode::Plain, "[package]\n"),
            ("plugins/run", Mode::Executable, "#!/bin/sh\n"),
        ];
        let [first, second] = one;
        assert_eq!(package(&[first, second]).checksum(), package(&[second, first]).checksum());
        assert_eq!(
            package(&one).checksum().hex(),
            "d962119114c5b0d6b316aa724d3404c1dac93ea9224cf4b83248ca10c9b1530e"
        );
        let plain = ("plugins/run", Mode::Plain, "#!/bin/sh\n");
        assert_ne!(package(&[first, plain]).checksum(), package(&one).checksum());
    }

    #[test]
    fn more_than_the_limits_is_refused() {
        let mut package = Package::default();
        package.add(path("tests/large"), Mode::Plain, vec![0; MAX_BYTES as usize]).unwrap();
        let added = package.add(path("tests/more"), Mode::Plain, vec![0]);
        assert!(matches!(added, Err(PackageError::TooLarge)));
        let mut package = Package::default();
        for index in 0..MAX_FILES {
            package.add(path(&format!("tests/{index}")), Mode::Plain, Vec::new()).unwrap();
        }
        let added = package.add(path("tests/more"), Mode::Plain, Vec::new());
        assert!(matches!(added, Err(PackageError::TooMany)));
    }
}
