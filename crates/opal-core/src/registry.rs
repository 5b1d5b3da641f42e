//! All decorators together: one registry for built-ins and plugins.

use std::fmt;

use crate::decorator::{Descriptor, Plugin};
use crate::plan::{Arg, Node};
use crate::suggest;

/// Descriptors in the order of their names.
#[derive(Debug)]
pub struct Registry {
    /// Each under the name that a source calls it by. Mostly that is its path; a package may know its own
    /// decorators, and those of its dependencies, by other names than the project.
    entries: Vec<(&'static str, &'static Descriptor)>,
    /// Decorators that are made when a source names them.
    catalogs: Vec<&'static dyn Catalog>,
    /// What the files of each package may name, by the name of the package.
    packages: Vec<(&'static str, Registry)>,
    /// The decorators of packages that have not been read yet.
    unread: Option<&'static dyn Unread>,
}

/// Packages whose decorators are read when a source names one that is not built in: most sources of a
/// project name none.
pub trait Unread: Sync + fmt::Debug {
    /// All decorators of the project; none where the packages cannot be read.
    fn read(&'static self) -> Option<&'static Registry>;

    /// The same, where they have been read already.
    fn known(&'static self) -> Option<&'static Registry>;
}

/// First segments that belong to opal although no built-in decorator begins with them.
const RESERVED: [&str; 10] =
    ["module", "needs", "cmd", "var", "let", "env", "args", "opal", "terraform", "plugin"];

/// Many decorators with one first segment, each made when it is named: a provider has thousands.
pub trait Catalog: Sync + fmt::Debug {
    /// What all its names begin with.
    fn segment(&self) -> &'static str;

    /// What its decorators come from.
    fn plugin(&self) -> &'static Plugin;

    /// In order.
    fn names(&self) -> Vec<&'static str>;

    /// The same descriptor each time.
    fn get(&self, path: &str) -> Option<&'static Descriptor>;

    /// The path of the step type of configurations that is called so.
    fn step_type(&self, name: &str) -> Option<&'static str>;
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
            None => Ok(Self { entries, catalogs: Vec::new(), packages: Vec::new(), unread: None }),
        }
    }

    /// The same, with packages that are read when one of their decorators is named.
    #[must_use]
    pub fn with_unread(&self, packages: &'static dyn Unread) -> Self {
        Self {
            entries: self.entries.clone(),
            catalogs: self.catalogs.clone(),
            packages: Vec::new(),
            unread: Some(packages),
        }
    }

    /// With the decorators of packages, which are read now.
    fn whole(&self) -> &Self {
        self.unread.and_then(|it| it.read()).unwrap_or(self)
    }

    /// The same, with decorators that are made when they are named.
    pub fn with_catalogs(self, catalogs: Vec<&'static dyn Catalog>) -> Result<Self, PathTaken> {
        let is_taken = |at: usize| {
            let segment = catalogs[at].segment();
            let begins = |(name, _): &(&str, _)| name.split('.').next() == Some(segment);
            let is_twice = catalogs[..at].iter().any(|other| other.segment() == segment);
            is_twice || self.entries.iter().any(begins)
        };
        match (0..catalogs.len()).find(|at| is_taken(*at)) {
            Some(at) => Err(PathTaken(catalogs[at].segment())),
            None => Ok(Self { catalogs, ..self }),
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
        let whole = self.whole();
        let found = whole.packages.iter().find(|(name, _)| *name == package);
        found.map_or(whole, |(_, registry)| registry)
    }

    /// Whether there are decorators of packages that a source may have named.
    #[must_use]
    pub fn has_packages(&self) -> bool {
        let known = self.unread.and_then(|it| it.known()).unwrap_or(self);
        !known.packages.is_empty() || !known.catalogs.is_empty()
    }

    #[must_use]
    pub fn get(&self, path: &str) -> Option<&'static Descriptor> {
        match self.entries.binary_search_by_key(&path, |(name, _)| *name) {
            Ok(index) => Some(self.entries[index].1),
            Err(_) => match self.unread {
                // No package may have a name of opal's own.
                Some(_) if self.is_reserved(path.split('.').next().unwrap_or(path)) => None,
                Some(packages) => packages.read()?.get(path),
                None if self.catalogs.is_empty() => None,
                None => self.catalog(path)?.get(path),
            },
        }
    }

    /// Whether a first segment belongs to opal, where this has only the built-in decorators.
    #[must_use]
    pub fn is_reserved(&self, first: &str) -> bool {
        RESERVED.contains(&first) || self.has_segment(first)
    }

    fn catalog(&self, path: &str) -> Option<&'static dyn Catalog> {
        let segment = path.split('.').next();
        self.catalogs.iter().copied().find(|catalog| Some(catalog.segment()) == segment)
    }

    /// The decorator of a catalog that is the step type `name` of configurations.
    #[must_use]
    pub fn step_type(&self, name: &str) -> Option<&'static Descriptor> {
        let mut catalogs = self.whole().catalogs.iter();
        let found = catalogs.find_map(|it| Some((*it, it.step_type(name)?)));
        found.and_then(|(catalog, path)| catalog.get(path))
    }

    /// Whether an argument of a step says what the step would do without it.
    #[must_use]
    pub fn is_default(&self, node: &Node, name: &str, arg: &Arg) -> bool {
        let Arg::Const(given) = arg else { return false };
        let descriptor = node.path().and_then(|path| self.get(path));
        let mut defaults = descriptor.into_iter().flat_map(Descriptor::defaults);
        defaults.any(|(known, default)| known == name && default == given)
    }

    /// All but those of catalogs, which are made when they are named.
    pub fn iter(&self) -> impl Iterator<Item = &'static Descriptor> {
        self.whole().entries.iter().map(|(_, descriptor)| *descriptor)
    }

    /// Those that do not come from a package.
    pub fn built_in(&self) -> impl Iterator<Item = &'static Descriptor> {
        let all = self.entries.iter().map(|(_, descriptor)| *descriptor);
        all.filter(|descriptor| descriptor.plugin.is_none())
    }

    /// What decorators come from that are not built in. One with several is there several times.
    pub fn plugins(&self) -> impl Iterator<Item = &'static Plugin> {
        let made = self.whole().catalogs.iter().map(|catalog| catalog.plugin());
        self.iter().filter_map(|descriptor| descriptor.plugin).chain(made)
    }

    /// Whether the path of a decorator is this segment, or begins with it.
    #[must_use]
    pub fn has_segment(&self, segment: &str) -> bool {
        let is_it = |name: &str| name.split('.').next() == Some(segment);
        // They are sorted, and a dot comes before all that a segment can go on with.
        let at = self.entries.partition_point(|(name, _)| *name < segment);
        self.entries.get(at).is_some_and(|(name, _)| is_it(name))
            || self.catalogs.iter().any(|catalog| catalog.segment() == segment)
    }

    /// The names that a source may say.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let whole = self.whole();
        let made = whole.catalogs.iter().flat_map(|catalog| catalog.names());
        whole.entries.iter().map(|(name, _)| *name).chain(made)
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
    fn a_segment_is_a_whole_one() {
        static RETRY: Descriptor = Descriptor { path: "retry", ..Descriptor::BASE };
        let registry = Registry::named(vec![("file.read", &READ), ("retry", &RETRY)]).unwrap();
        for (segment, is_there) in
            [("file", true), ("retry", true), ("fi", false), ("files", false), ("file.read", false)]
        {
            assert_eq!(registry.has_segment(segment), is_there, "{segment}");
        }
    }

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

    static BUCKET: Descriptor = Descriptor { path: "aws.bucket", ..Descriptor::BASE };

    #[derive(Debug)]
    struct Aws;

    impl Catalog for Aws {
        fn segment(&self) -> &'static str {
            "aws"
        }

        fn plugin(&self) -> &'static Plugin {
            &Plugin {
                name: "terraform/hashicorp/aws",
                version: "6.0.0",
                source: "local:bin/aws",
                verification: "none",
                signed_by: None,
                checksum: "sha256:0",
                engine: "terraform",
                capabilities: &[],
            }
        }

        fn names(&self) -> Vec<&'static str> {
            vec![BUCKET.path]
        }

        fn get(&self, path: &str) -> Option<&'static Descriptor> {
            (path == BUCKET.path).then_some(&BUCKET)
        }

        fn step_type(&self, name: &str) -> Option<&'static str> {
            (name == "aws_bucket").then_some(BUCKET.path)
        }
    }

    #[test]
    fn what_a_catalog_has_is_found_by_its_name_and_suggested_for_a_typo() {
        let registry = Registry::new(&[&READ]).unwrap().with_catalogs(vec![&Aws]).unwrap();
        assert_eq!(registry.get("aws.bucket").unwrap().path, "aws.bucket");
        assert_eq!(registry.typo("aws.bukcet"), Some("aws.bucket"));
        assert_eq!(registry.step_type("aws_bucket").unwrap().path, "aws.bucket");
        assert!(registry.get("aws.other").is_none() && registry.step_type("aws").is_none());
        assert_eq!(registry.iter().count(), 1, "nothing is made before it is named");
        assert_eq!(registry.plugins().count(), 1, "what it comes from is known all the same");
    }

    /// Packages that count how often they are read.
    #[derive(Debug)]
    struct Counted {
        times: std::sync::atomic::AtomicUsize,
        all: std::sync::OnceLock<Option<&'static Registry>>,
        is_broken: bool,
    }

    impl Unread for Counted {
        fn read(&'static self) -> Option<&'static Registry> {
            *self.all.get_or_init(|| {
                self.times.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let all = Registry::new(&[&READ, &ENV]).unwrap().with_catalogs(vec![&Aws]).unwrap();
                (!self.is_broken).then(|| &*Box::leak(Box::new(all)))
            })
        }

        fn known(&'static self) -> Option<&'static Registry> {
            self.all.get().copied().flatten()
        }
    }

    fn unread(is_broken: bool) -> (&'static Counted, Registry) {
        let counted: &'static Counted = Box::leak(Box::new(Counted {
            times: Default::default(),
            all: Default::default(),
            is_broken,
        }));
        (counted, Registry::new(&[&READ, &ENV]).unwrap().with_unread(counted))
    }

    #[test]
    fn packages_are_read_once_when_a_name_may_be_theirs() {
        let (packages, registry) = unread(false);
        for own in ["file.read", "file.other", "env", "env.HOME", "var.x", "cmd.x", "args", "let.x"]
        {
            let _ = registry.get(own);
        }
        assert_eq!(registry.built_in().count(), 2);
        assert!(!registry.has_packages() && packages.known().is_none());
        assert_eq!(registry.get("aws.bucket").unwrap().path, "aws.bucket");
        assert!(registry.get("other.name").is_none() && registry.has_packages());
        assert_eq!(registry.names().count(), 3);
        assert_eq!(packages.times.load(std::sync::atomic::Ordering::Relaxed), 1);
        let (_, registry) = unread(false);
        assert_eq!(registry.plugins().count(), 1, "whoever asks for all gets all");
    }

    #[test]
    fn what_is_built_in_is_there_although_packages_cannot_be_read() {
        let (_, registry) = unread(true);
        assert!(registry.get("aws.bucket").is_none() && registry.get("env").is_some());
        assert!(!registry.has_packages());
        assert_eq!(registry.iter().count(), 2);
    }

    #[test]
    fn a_catalog_has_its_first_segment_for_itself() {
        static AWS: Descriptor = Descriptor { path: "aws.own", ..Descriptor::BASE };
        let taken = |registry: Registry, all| registry.with_catalogs(all).unwrap_err();
        let other = Registry::new(&[&AWS]).unwrap();
        assert_eq!(taken(other, vec![&Aws]), PathTaken("aws"));
        assert_eq!(taken(Registry::new(&[]).unwrap(), vec![&Aws, &Aws]), PathTaken("aws"));
    }
}
