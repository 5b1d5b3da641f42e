//! All decorators together: one registry for built-ins and plugins.

use crate::decorator::Descriptor;
use crate::plan::{Arg, Node};
use crate::suggest;

/// Descriptors in the order of their names.
#[derive(Debug)]
pub struct Registry {
    /// Each under the name that a source calls it by. Mostly that is its path; a package may know its own
    /// decorators, and those of its dependencies, by other names than the project.
    entries: Vec<(&'static str, &'static Descriptor)>,
    /// What the files of each package may name, by the name of the package.
    packages: Vec<(&'static str, Registry)>,
}

/// Two descriptors claim the same path.
#[derive(Debug, PartialEq, Eq)]
pub struct PathTaken(pub &'static str);

impl Registry {
    pub fn new(entries: &[&'static Descriptor]) -> Result<Self, PathTaken> {
        Self::named(entries.iter().map(|descriptor| (descriptor.path, *descriptor)).collect())
    }

    /// The same, with other names than their paths.
    pub fn named(mut entries: Vec<(&'static str, &'static Descriptor)>) -> Result<Self, PathTaken> {
        entries.sort_by_key(|(name, _)| *name);
        match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(PathTaken(pair[0].0)),
            None => Ok(Self { entries, packages: Vec::new() }),
        }
    }

    /// The same, with what the files of packages may name.
    #[must_use]
    pub fn with_packages(self, packages: Vec<(&'static str, Registry)>) -> Self {
        Self { packages, ..self }
    }

    /// What a file may name: one of a package, or one of the project.
    #[must_use]
    pub fn of(&self, package: Option<&str>) -> &Self {
        let Some(package) = package else { return self };
        let found = self.packages.iter().find(|(name, _)| *name == package);
        found.map_or(self, |(_, registry)| registry)
    }

    /// Whether there are decorators of packages.
    #[must_use]
    pub fn has_packages(&self) -> bool {
        !self.packages.is_empty()
    }

    #[must_use]
    pub fn get(&self, path: &str) -> Option<&'static Descriptor> {
        let index = self.entries.binary_search_by_key(&path, |(name, _)| *name).ok()?;
        Some(self.entries[index].1)
    }

    /// Whether an argument of a step says what the step would do without it.
    #[must_use]
    pub fn is_default(&self, node: &Node, name: &str, arg: &Arg) -> bool {
        let Arg::Const(given) = arg else { return false };
        let descriptor = node.path().and_then(|path| self.get(path));
        let mut defaults = descriptor.into_iter().flat_map(Descriptor::defaults);
        defaults.any(|(known, default)| known == name && default == given)
    }

    pub fn iter(&self) -> impl Iterator<Item = &'static Descriptor> {
        self.entries.iter().map(|(_, descriptor)| *descriptor)
    }

    /// The names that a source may say.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|(name, _)| *name)
    }

    /// The path that `given` is a typo of, compared part by part.
    #[must_use]
    pub fn typo(&self, given: &str) -> Option<&'static str> {
        self.names()
            .filter(|name| suggest::is_typo(given, name))
            .min_by_key(|name| suggest::distance(given, name))
    }

    /// The best guess at what `given` was meant to be, for a message.
    #[must_use]
    pub fn nearest(&self, given: &str) -> Option<&'static str> {
        self.typo(given).or_else(|| suggest::nearest(given, self.names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static READ: Descriptor = Descriptor { path: "file.read", ..Descriptor::BASE };
    static ENV: Descriptor = Descriptor { path: "env", ..Descriptor::BASE };

    #[test]
    fn a_path_belongs_to_one_descriptor() {
        assert_eq!(Registry::new(&[&READ, &READ]).unwrap_err(), PathTaken("file.read"));
    }

    #[test]
    fn lookups_do_not_depend_on_the_order_of_registration() {
        let registry = Registry::new(&[&READ, &ENV]).unwrap();
        assert_eq!(registry.get("env").unwrap().path, "env");
        assert_eq!(registry.typo("fiel.read"), Some("file.read"));
        assert!(registry.get("file").is_none());
    }
}
