//! The functions of a unit by their names, seen from a file: its own, and those of its imports with
//! their namespace.

use super::Unit;

/// In the order of the names, so that a lookup halves; of those that are alike the first comes first.
#[derive(Debug)]
pub struct FunctionNames<'u> {
    unit: &'u Unit,
    /// For each file.
    sorted: Vec<Vec<Named<'u>>>,
}

/// A function of a file. Its order is that of the names: where their beginnings are different, one
/// comparison of numbers says so.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named<'u> {
    beginning: u64,
    name: &'u str,
    index: usize,
}

/// The first bytes of a name, which has no byte 0, as a number.
fn beginning(name: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
    u64::from_be_bytes(first)
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    Function(usize),
    /// The function is there, and only its own file may call it.
    Private(usize),
    /// The file that would say has not been read.
    Unread,
    /// No import gives this namespace.
    NoNamespace,
    /// No function has this name.
    Nothing,
}

impl Lookup {
    /// The function, where it may be called.
    #[must_use]
    pub fn function(self) -> Option<usize> {
        match self {
            Self::Function(index) => Some(index),
            _ => None,
        }
    }
}

impl<'u> FunctionNames<'u> {
    #[must_use]
    pub fn new(unit: &'u Unit) -> Self {
        let of = |file: usize| {
            let all = unit.functions_of(file);
            let names = unit.functions[all.clone()].iter().map(|it| it.name.text.as_str());
            let named = |(name, index)| Named { beginning: beginning(name), name, index };
            let mut sorted: Vec<Named<'_>> = names.zip(all).map(named).collect();
            sorted.sort_unstable();
            sorted
        };
        Self { unit, sorted: unit.files().map(of).collect() }
    }

    /// The first function that is called so in `file`.
    #[must_use]
    pub fn find(&self, file: usize, name: &str) -> Lookup {
        let Some((namespace, name)) = name.split_once('.') else {
            return self.own(file, name).map_or(Lookup::Nothing, Lookup::Function);
        };
        let imports = self.unit.imports_of(file);
        let Some(import) = imports.iter().find(|it| it.namespace() == Some(namespace)) else {
            return Lookup::NoNamespace;
        };
        let Some(file) = import.file else { return Lookup::Unread };
        match self.own(file, name) {
            Some(index) if name.starts_with('_') => Lookup::Private(index),
            Some(index) => Lookup::Function(index),
            None => Lookup::Nothing,
        }
    }

    fn own(&self, file: usize, name: &str) -> Option<usize> {
        let sorted = self.sorted.get(file)?;
        let sought = (beginning(name), name);
        let at = sorted.partition_point(|it| (it.beginning, it.name) < sought);
        let found = sorted.get(at)?;
        (found.name == name).then_some(found.index)
    }

    /// Each name that a call in `file` may say once: its own, then those of its imports.
    pub(crate) fn all(&self, file: usize) -> impl Iterator<Item = String> {
        let own = self.alike(file).map(|alike| alike[0].name.to_owned());
        let imports = self.unit.imports_of(file).iter();
        let imports = imports.filter_map(|it| Some((it.namespace()?, it.file?)));
        let theirs = imports.flat_map(|(namespace, file)| {
            let public = self.alike(file).filter(|alike| !alike[0].name.starts_with('_'));
            public.map(move |alike| format!("{namespace}.{}", alike[0].name))
        });
        own.chain(theirs)
    }

    /// Every function whose name another of its file had before, with the first that had it.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = (usize, usize)> {
        let alike = self.unit.files().flat_map(|file| self.alike(file));
        alike.flat_map(|alike| alike[1..].iter().map(|again| (again.index, alike[0].index)))
    }

    fn alike(&self, file: usize) -> impl Iterator<Item = &[Named<'u>]> {
        self.sorted[file].chunk_by(|a, b| a.name == b.name)
    }
}

impl Unit {
    /// The function that is called `name` on the command line.
    #[must_use]
    pub fn target(&self, name: &str) -> Option<usize> {
        match name.contains('.') {
            true => FunctionNames::new(self).find(0, name).function(),
            // Mostly there is only this one to look for.
            false => {
                self.functions[self.functions_of(0)].iter().position(|it| it.name.text == name)
            }
        }
    }
}
