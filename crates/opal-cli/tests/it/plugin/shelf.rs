//! A static registry in a directory, for tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use opal_plugins::package::{Mode, Package};
use opal_registry::archive;
use opal_registry::format::{Dependency, PackageName, Sha256, VersionEntry, Versions, Yank};

use crate::support::Opal;

pub(super) struct Shelf {
    folder: tempfile::TempDir,
}

impl Shelf {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("registry")
    }

    pub(super) fn address(&self) -> String {
        format!("file:{}", self.path().display())
    }

    /// A project that has this registry for every namespace of these.
    pub(super) fn project(&self, commands: &str, spaces: &[&str]) -> Opal {
        let mut text = String::from("name = \"shop\"\n\n[registries]\n");
        for space in spaces {
            let _ = writeln!(text, "{space} = \"{}\"", self.address());
        }
        super::rooted(commands).file("opal.mod", text)
    }

    /// The package of a version: a decorator that says which one it is.
    pub(super) fn package(name: &str, version: &str, requires: &[(&str, &str)]) -> Package {
        let segment = name.split('/').next_back().unwrap().replace('-', "_");
        let mut toml = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n");
        if !requires.is_empty() {
            toml.push_str("[dependencies]\n");
        }
        for (name, requirement) in requires {
            let _ = writeln!(toml, "\"{name}\" = \"{requirement}\"");
        }
        let body = format!("# Say who it is.\nfun {segment}.hello() = echo {name} {version}\n");
        Self::of(&[("opal.toml", &toml), ("decorators/hello.opl", &body)])
    }

    pub(super) fn of(files: &[(&str, &str)]) -> Package {
        let mut package = Package::default();
        for (path, text) in files {
            package.add(path.parse().unwrap(), Mode::Plain, text.as_bytes().to_vec()).unwrap();
        }
        package
    }

    pub(super) fn publish(&self, name: &str, version: &str, requires: &[(&str, &str)]) {
        self.put(name, version, requires, &Self::package(name, version, requires), |_| {});
    }

    pub(super) fn put(
        &self,
        name: &str,
        version: &str,
        requires: &[(&str, &str)],
        package: &Package,
        change: impl FnOnce(&mut VersionEntry),
    ) {
        self.put_bytes(name, version, requires, package, archive::write(package), change);
    }

    pub(super) fn put_bytes(
        &self,
        name: &str,
        version: &str,
        requires: &[(&str, &str)],
        package: &Package,
        bytes: Vec<u8>,
        change: impl FnOnce(&mut VersionEntry),
    ) {
        let requires: BTreeMap<&str, &str> = requires.iter().copied().collect();
        let requires = requires.into_iter().map(|(name, version)| Dependency {
            name: name.parse().unwrap(),
            version: version.parse().unwrap(),
        });
        let mut entry = VersionEntry {
            version: version.parse().unwrap(),
            checksum: Sha256(package.checksum()),
            archive: Sha256::of(&bytes),
            size: bytes.len() as u64,
            published: 1,
            min_core: None,
            requires: requires.collect(),
            yanked: None,
        };
        change(&mut entry);
        let folder = self.path().join(name);
        fs::create_dir_all(folder.join(version)).unwrap();
        fs::write(folder.join(version).join("plugin.tar.gz"), bytes).unwrap();
        self.change(name, |versions| {
            versions.add(entry).unwrap();
        });
    }

    pub(super) fn change(&self, name: &str, change: impl FnOnce(&mut Versions)) {
        let file = self.path().join(name).join("versions.json");
        let name: PackageName = name.parse().unwrap();
        let mut versions = match fs::read(&file) {
            Ok(bytes) => Versions::parse(&bytes).unwrap(),
            Err(_) => Versions::new(name),
        };
        change(&mut versions);
        fs::write(file, versions.to_bytes()).unwrap();
    }

    pub(super) fn yank(&self, name: &str, version: &str) {
        self.change(name, |versions| {
            let entry = versions.get_mut(&version.parse().unwrap()).unwrap();
            entry.yanked = Some(Yank { reason: "it deletes too much".parse().unwrap(), at: 2 });
        });
    }

    /// A list for `--accept` with every version of this registry, and these packages.
    pub(super) fn list(&self) -> String {
        let mut text = String::from("version = 1\n");
        for file in walk(&self.path()).into_iter().filter(|it| it.ends_with("versions.json")) {
            let versions = Versions::parse(&fs::read(file).unwrap()).unwrap();
            for entry in versions.all() {
                accepted(
                    &mut text,
                    versions.name.as_str(),
                    &entry.version.to_string(),
                    entry.checksum,
                );
            }
        }
        self.keep(&text)
    }

    pub(super) fn list_of(&self, name: &str, version: &str, package: &Package) -> String {
        let mut text = String::from("version = 1\n");
        accepted(&mut text, name, version, Sha256(package.checksum()));
        self.keep(&text)
    }

    /// A list for `--accept` with one package.
    pub(super) fn accepting(&self, name: &str, version: &str, checksum: &str, may: &str) -> String {
        self.keep(&format!(
            "version = 1\n\n[[accepted]]\nname = \"{name}\"\nversion = \"{version}\"\nchecksum = \
             \"{checksum}\"\ncapabilities = [{may}]\n"
        ))
    }

    fn keep(&self, text: &str) -> String {
        let file = self.folder.path().join("accepted.toml");
        fs::write(&file, text).unwrap();
        file.display().to_string()
    }
}

fn accepted(text: &mut String, name: &str, version: &str, checksum: Sha256) {
    let _ = write!(
        text,
        "\n[[accepted]]\nname = \"{name}\"\nversion = \"{version}\"\nchecksum = \"{checksum}\"\n\
         capabilities = [\"shell\"]\n"
    );
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => all.extend(walk(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}
