//! The registries of a project: which one a namespace is in, and whether what it says is fresh.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::cache::Cache;
use crate::format::{Index, PackageName, Versions};
use crate::freshness;
use crate::refusal::Refusal;
use crate::sources::{self, Reach};

#[derive(Debug)]
pub(crate) struct Registries<'a> {
    pub(crate) reach: &'a Reach,
    pub(crate) cache: &'a Cache,
    /// Namespaces and addresses; those of a policy first, which a project cannot change.
    pub(crate) bound: Vec<(String, String)>,
    /// Registries and the keys that sign their indexes.
    pub(crate) keys: Vec<(String, opal_trust::keys::PublicKey)>,
    /// A mirror that all packages are read from.
    pub(crate) from: Option<String>,
    /// Seconds since 1970.
    pub(crate) now: u64,
    pub(crate) known: RefCell<BTreeMap<PackageName, Rc<Known>>>,
    pub(crate) indexes: RefCell<BTreeMap<String, Option<Rc<Index>>>>,
    /// Registries without a key, each once.
    pub(crate) unchecked: RefCell<Vec<String>>,
}

/// What a registry says about a package.
#[derive(Debug)]
pub(crate) struct Known {
    /// The registry that it belongs to.
    pub(crate) address: String,
    pub(crate) versions: Versions,
}

impl Registries<'_> {
    /// The registry of a package. Only what `opal.mod` has itself may come from the default one: otherwise
    /// whoever can publish there could take the place of a package that belongs elsewhere.
    pub(crate) fn address(
        &self,
        name: &PackageName,
        needed_by: Option<&str>,
    ) -> Result<&str, Refusal> {
        let of =
            |space: &str| self.bound.iter().find(|(it, _)| it == space).map(|(_, it)| it.as_str());
        let space = name.namespace();
        if let Some(address) = of(space) {
            return Ok(address);
        }
        let help = format!("add it to opal.mod: `[registries]`, `{space} = \"https://…\"`");
        match needed_by {
            Some(other) => Err(Refusal::conflict(
                format!("{other} needs {name}, and opal.mod has no registry for `{space}`"),
                help,
            )),
            None => of("default").ok_or_else(|| {
                Refusal::conflict(format!("opal.mod has no registry for `{name}`"), help)
            }),
        }
    }

    /// Every version of a package.
    pub(crate) fn known(
        &self,
        name: &PackageName,
        needed_by: Option<&str>,
    ) -> Result<Rc<Known>, Refusal> {
        if let Some(known) = self.known.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let address = self.address(name, needed_by)?.to_owned();
        let known = Rc::new(self.read(name, address)?);
        self.known.borrow_mut().insert(name.clone(), Rc::clone(&known));
        Ok(known)
    }

    /// The same of a package whose checksum is locked. A mirror has an index of its own, which need not be
    /// fresh: the lock says what may come from it.
    pub(crate) fn pinned(&self, name: &PackageName, address: String) -> Result<Known, Refusal> {
        let Some(from) = self.from.as_deref() else { return self.read(name, address) };
        match sources::open(from, self.reach).versions(name)? {
            Some((versions, _)) => Ok(Known { address, versions }),
            None => Err(missing(name, from)),
        }
    }

    /// The same from a registry that is known already.
    fn read(&self, name: &PackageName, address: String) -> Result<Known, Refusal> {
        let read_from = self.from.as_deref().unwrap_or(&address);
        let registry = sources::open(read_from, self.reach);
        let index = self.index(&address, read_from, registry.as_ref())?;
        let Some((versions, digest)) = registry.versions(name)? else {
            return Err(missing(name, read_from));
        };
        if let Some(index) = index {
            freshness::listed(&index, name, digest, read_from)?;
        }
        Ok(Known { address, versions })
    }

    /// Every package of a registry, checked where its key is known; none where it has no index.
    pub(crate) fn listing(&self, address: &str) -> Result<Option<Rc<Index>>, Refusal> {
        let registry = sources::open(address, self.reach);
        if let Some(index) = self.index(address, address, registry.as_ref())? {
            return Ok(Some(index));
        }
        let bytes = registry.index()?;
        let Some(payload) = bytes.as_deref().and_then(freshness::payload) else { return Ok(None) };
        let index = Index::parse(&payload).map_err(|error| Refusal::document(address, &error))?;
        Ok(Some(Rc::new(index)))
    }

    /// The index of a registry, where it has a key and the index is fresh; none without a key.
    fn index(
        &self,
        address: &str,
        read_from: &str,
        registry: &dyn sources::Registry,
    ) -> Result<Option<Rc<Index>>, Refusal> {
        if let Some(known) = self.indexes.borrow().get(address) {
            return Ok(known.clone());
        }
        let key = self
            .keys
            .iter()
            .find(|(it, _)| it == address.trim_end_matches('/'))
            .map(|(_, key)| key);
        let found = match key {
            None => {
                self.unchecked.borrow_mut().push(address.to_owned());
                None
            }
            Some(key) => {
                let bytes = registry.index()?;
                let line = bytes.clone().unwrap_or_default();
                let index = freshness::check(bytes, key, address, read_from, self.cache, self.now)?;
                self.cache.keep_index(address, &line)?;
                Some(Rc::new(index))
            }
        };
        self.indexes.borrow_mut().insert(address.to_owned(), found.clone());
        Ok(found)
    }
}

fn missing(name: &PackageName, read_from: &str) -> Refusal {
    let message = format!("the registry {read_from} does not have {name}");
    Refusal::unavailable(message, "check the name: `opal plugin search WORD`")
}
