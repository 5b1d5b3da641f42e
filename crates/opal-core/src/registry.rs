//! All decorators together: one registry for built-ins and plugins.

use crate::decorator::Descriptor;
use crate::plan::{Arg, Node};
use crate::suggest;

/// Descriptors in the order of their paths.
#[derive(Debug)]
pub struct Registry {
    entries: Vec<&'static Descriptor>,
}

/// Two descriptors claim the same path.
#[derive(Debug, PartialEq, Eq)]
pub struct PathTaken(pub &'static str);

impl Registry {
    pub fn new(entries: &[&'static Descriptor]) -> Result<Self, PathTaken> {
        let mut entries = entries.to_vec();
        entries.sort_by_key(|descriptor| descriptor.path);
        match entries.windows(2).find(|pair| pair[0].path == pair[1].path) {
            Some(pair) => Err(PathTaken(pair[0].path)),
            None => Ok(Self { entries }),
        }
    }

    #[must_use]
    pub fn get(&self, path: &str) -> Option<&'static Descriptor> {
        let index = self.entries.binary_search_by_key(&path, |descriptor| descriptor.path).ok()?;
        Some(self.entries[index])
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
        self.entries.iter().copied()
    }

    /// The path that `given` is a typo of, compared part by part.
    #[must_use]
    pub fn typo(&self, given: &str) -> Option<&'static str> {
        self.iter()
            .filter(|descriptor| suggest::is_typo(given, descriptor.path))
            .min_by_key(|descriptor| suggest::distance(given, descriptor.path))
            .map(|descriptor| descriptor.path)
    }

    /// The best guess at what `given` was meant to be, for a message.
    #[must_use]
    pub fn nearest(&self, given: &str) -> Option<&'static str> {
        self.typo(given)
            .or_else(|| suggest::nearest(given, self.iter().map(|descriptor| descriptor.path)))
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
