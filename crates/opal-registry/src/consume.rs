//! What `opal` asks of the helper for a project that uses packages: resolve and fetch, search, list versions.
//!
//! Fetched packages go into the cache. Whether they may be used is decided by `opal`, which reads them from
//! there, and asks the person.

mod request;

use std::collections::BTreeMap;

use opal_helper::Parcel;
use opal_plugins::address::{GitSource, Repository, Source};
use opal_plugins::package::Package;
use semver::Version;
use serde_json::{Value, json};

use crate::archive;
use crate::cache::Cache;
use crate::format::{Dependency, PackageName, Sha256, VersionEntry};
use crate::refusal::Refusal;
use crate::registries::Registries;
use crate::resolve::{Fixed, Problem};
use crate::sources::git::Checkout;
use crate::sources::{self, Reach};

use request::{Locked, Request, Wanted};

/// The answer to a request; none where it cannot be understood.
#[must_use]
pub fn answer(parcel: &Parcel) -> Option<Parcel> {
    let (request, reach) = Request::read(parcel)?;
    let cache = Cache::new(request.root.clone());
    let registries = Registries {
        reach: &reach,
        cache: &cache,
        bound: request.registries.clone(),
        keys: request.keys(),
        from: request.from.as_ref().map(|path| format!("file:{path}")),
        now: request.now,
        known: Default::default(),
        indexes: Default::default(),
        unchecked: Default::default(),
    };
    let consumer =
        Consumer { request: &request, reach: &reach, cache: &cache, registries: &registries };
    let found = match request.what.as_str() {
        "resolve" => consumer.resolve(),
        "search" => consumer.search(),
        "versions" => consumer.versions(),
        _ => return None,
    };
    Some(Parcel::new(found.unwrap_or_else(|refusal| {
        let Refusal { exit, message, help } = refusal;
        json!({"refused": {"exit": exit, "message": message, "help": help}})
    })))
}

struct Consumer<'a> {
    request: &'a Request,
    reach: &'a Reach,
    cache: &'a Cache,
    registries: &'a Registries<'a>,
}

/// A package that is in the cache now.
struct Found {
    name: String,
    version: Version,
    source: String,
    checksum: Sha256,
    requires: Vec<String>,
}

impl Found {
    fn document(&self) -> Value {
        json!({
            "name": self.name,
            "version": self.version.to_string(),
            "source": self.source,
            "checksum": self.checksum.to_string(),
            "requires": self.requires,
        })
    }
}

impl Consumer<'_> {
    fn resolve(&self) -> Result<Value, Refusal> {
        let mut notes = Vec::new();
        let found = match self.is_locked() {
            true => self.locked(&mut notes)?,
            false => self.solved(&mut notes)?,
        };
        for address in self.registries.unchecked.borrow().iter() {
            notes.push(format!("{address}: freshness not checked (you have no key for its index)"));
        }
        let packages: Vec<Value> = found.iter().map(Found::document).collect();
        Ok(json!({"packages": packages, "notes": notes}))
    }

    /// Whether the lock answers everything, so that nobody needs to be asked for versions.
    fn is_locked(&self) -> bool {
        let request = self.request;
        let has = |name: &str| {
            request.locked.iter().any(|it| it.name == name)
                || request.wanted.iter().any(|it| it.is_local(name))
        };
        request.update.is_none()
            && request.wanted.iter().all(|wanted| match wanted {
                Wanted::Registry { name, requirement } => {
                    let locked = request.locked.iter().find(|it| it.name == name.as_str());
                    locked.is_some_and(|it| {
                        requirement.holds(&it.version) && self.is_mapped(it, name)
                    })
                }
                Wanted::Git { repository, .. } => self.git_lock(repository).is_some(),
                Wanted::Local { requires, .. } => requires.iter().all(|it| has(it.name.as_str())),
            })
            && request.locked.iter().all(|it| it.requires.iter().all(|name| has(name)))
    }

    /// Whether a package is locked from the registry that it belongs to now.
    fn is_mapped(&self, locked: &Locked, name: &PackageName) -> bool {
        let address = self.registries.address(name, None);
        address.is_ok_and(|address| locked.source == format!("registry+{address}"))
    }

    fn git_lock(&self, repository: &Repository) -> Option<(&Locked, GitSource)> {
        self.request.locked.iter().find_map(|locked| match Source::parse(&locked.source) {
            Some(Source::Git(git)) if git.repository == *repository => Some((locked, git)),
            _ => None,
        })
    }

    /// Whatever is locked, from the cache or from where it was locked.
    fn locked(&self, notes: &mut Vec<String>) -> Result<Vec<Found>, Refusal> {
        let mut all = Vec::new();
        for locked in &self.request.locked {
            let (Some(source), Some(checksum)) = (Source::parse(&locked.source), locked.checksum)
            else {
                let message = format!("`opal.lock` has no source or checksum of {}", locked.name);
                return Err(Refusal::conflict(message, "run `opal plugin update`"));
            };
            if self.cache.get(&checksum.0).is_none() {
                match source {
                    Source::Local(_) => continue,
                    Source::Registry(address) => {
                        let name: PackageName = parsed(&locked.name)?;
                        let known = self.registries.pinned(&name, address)?;
                        let entry = known.versions.get(&locked.version);
                        let entry = entry.ok_or_else(|| gone(locked, &known.address))?;
                        self.fetch(&name, entry, &known.address, Some(locked), notes)?;
                    }
                    Source::Git(git) => {
                        drop(self.checkout(&git.repository, git.reference.name(), Some(locked))?)
                    }
                }
            }
            all.push(Found {
                name: locked.name.clone(),
                version: locked.version.clone(),
                source: locked.source.clone(),
                checksum,
                requires: locked.requires.clone(),
            });
        }
        Ok(all)
    }

    /// Whether `opal plugin update` names a package.
    fn updates(&self, name: &str, key: &str) -> bool {
        let update = self.request.update.as_ref();
        update.is_some_and(|all| all.is_empty() || all.iter().any(|it| it == name || it == key))
    }

    fn solved(&self, notes: &mut Vec<String>) -> Result<Vec<Found>, Refusal> {
        let mut found = Vec::new();
        let mut fixed = BTreeMap::new();
        let mut wanted = Vec::new();
        for one in &self.request.wanted {
            match one {
                Wanted::Registry { name, requirement } => {
                    wanted.push((name.clone(), requirement.clone()))
                }
                Wanted::Local { name, version, requires } => {
                    let requires = requires.clone();
                    fixed.insert(name.clone(), Fixed { version: version.clone(), requires });
                }
                Wanted::Git { repository, reference, key } => {
                    let locked = self.git_lock(repository);
                    let locked =
                        locked.map(|(locked, _)| locked).filter(|it| !self.updates(&it.name, key));
                    let (source, package) = self.checkout(repository, reference, locked)?;
                    let about = request::about(&package, &repository.place)?;
                    let one =
                        Fixed { version: about.version.clone(), requires: about.requires.clone() };
                    if fixed.insert(about.name.clone(), one).is_some() {
                        let message = format!("two packages of opal.mod are {}", about.name);
                        return Err(Refusal::conflict(message, "remove one of them"));
                    }
                    found.push(Found {
                        name: about.name.to_string(),
                        version: about.version,
                        source: Source::Git(source).to_string(),
                        checksum: Sha256(package.checksum()),
                        requires: names(&about.requires),
                    });
                }
            }
        }
        let kept = self.request.locked.iter().filter(|it| !self.updates(&it.name, &it.name));
        let kept =
            kept.filter_map(|it| Some((it.name.parse().ok()?, it.version.clone()))).collect();
        let problem = Problem {
            registries: self.registries,
            core: self.request.core.clone(),
            wanted,
            fixed,
            kept,
            needs: Default::default(),
        };
        for (name, version) in problem.solve()? {
            let known = self.registries.known(&name, None)?;
            let locked = self.request.locked.iter().find(|it| it.name == name.as_str());
            let same = locked.filter(|it| it.version == version);
            let Some(entry) = known.versions.get(&version) else { continue };
            self.fetch(&name, entry, &known.address, same, notes)?;
            found.push(Found {
                name: name.to_string(),
                version,
                source: format!("registry+{}", known.address),
                checksum: entry.checksum,
                requires: names(&entry.requires),
            });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Brings a version into the cache, with every check.
    fn fetch(
        &self,
        name: &PackageName,
        entry: &VersionEntry,
        address: &str,
        locked: Option<&Locked>,
        notes: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let version = &entry.version;
        let changed = |what: &str| {
            let message = format!("{name} {version} of {address} is not what {what}");
            Refusal::untrusted(message, "ask the owner of the registry; nothing was changed")
        };
        if locked.and_then(|it| it.checksum).is_some_and(|it| it != entry.checksum) {
            return Err(changed("was locked: the registry has another checksum"));
        }
        if let Some(yank) = &entry.yanked {
            notes.push(format!("{name} {version} was yanked: {}", yank.reason));
        }
        let read_from = self.registries.from.as_deref().unwrap_or(address);
        let registry = sources::open(read_from, self.reach);
        if let Some(package) = self.cache.get(&entry.checksum.0) {
            // Somebody may have vouched for it since.
            return self.cache.put(&package, registry.statements(name, entry)?.as_deref());
        }
        let bytes = registry.archive(name, entry)?;
        if Sha256::of(&bytes) != entry.archive {
            return Err(changed("it lists: the archive has changed"));
        }
        let package = archive::read(&bytes)
            .map_err(|error| Refusal::archive(&format!("{name} {version}"), &error))?;
        if Sha256(package.checksum()) != entry.checksum {
            return Err(changed("it lists: the files have another checksum"));
        }
        let about = request::about(&package, &format!("{name} {version}"))?;
        if about.name != *name || about.version != *version {
            let why = format!("it lists: the files are of {} {}", about.name, about.version);
            return Err(changed(&why));
        }
        let listed: Vec<&Dependency> = entry.requires.iter().collect();
        let declared: Vec<&Dependency> = about.requires.iter().collect();
        if listed != declared {
            return Err(changed("it lists: the files need other packages"));
        }
        self.cache.put(&package, registry.statements(name, entry)?.as_deref())
    }

    /// Brings a commit into the cache.
    fn checkout(
        &self,
        repository: &Repository,
        wanted: &str,
        locked: Option<&Locked>,
    ) -> Result<(GitSource, Package), Refusal> {
        let known = self.git_lock(repository).map(|(_, git)| git);
        if let (Some(git), Some(checksum)) = (&known, locked.and_then(|it| it.checksum))
            && let Some(package) = self.cache.get(&checksum.0)
        {
            return Ok((git.clone(), package));
        }
        let checkout = Checkout {
            repository,
            wanted,
            locked: known.as_ref(),
            updates: locked.is_none(),
            reach: self.reach,
        };
        let commit = checkout.fetch()?;
        let checksum = commit.package.checksum();
        if let Some(locked) = locked.filter(|it| it.checksum != Some(Sha256(checksum))) {
            let message = format!("{} {} is not what was locked", locked.name, locked.version);
            return Err(Refusal::untrusted(message, "ask the owner of the repository"));
        }
        self.cache.put(&commit.package, None)?;
        Ok((commit.source, commit.package))
    }

    fn search(&self) -> Result<Value, Refusal> {
        let mut found = Vec::new();
        let words = self.request.words.iter().map(|word| word.to_lowercase()).collect::<Vec<_>>();
        let mut addresses: Vec<&str> =
            self.request.registries.iter().map(|(_, it)| it.as_str()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        for address in addresses {
            let Some(index) = self.registries.listing(address)? else { continue };
            for entry in index.packages() {
                let decorators: Vec<String> =
                    entry.decorators.iter().map(ToString::to_string).collect();
                let text = format!("{} {} {}", entry.name, entry.summary, decorators.join(" "));
                let text = text.to_lowercase();
                if words.iter().all(|word| text.contains(word)) {
                    found.push(json!({
                        "name": entry.name.as_str(),
                        "version": entry.latest.as_ref().map(ToString::to_string),
                        "summary": entry.summary.as_str(),
                        "decorators": decorators,
                        "registry": address,
                    }));
                }
            }
        }
        Ok(json!({"packages": found}))
    }

    fn versions(&self) -> Result<Value, Refusal> {
        let name: PackageName = parsed(self.request.words.first().map_or("", String::as_str))?;
        let known = self.registries.known(&name, None)?;
        let one = |entry: &VersionEntry| {
            json!({
                "version": entry.version.to_string(),
                "checksum": entry.checksum.to_string(),
                "min_core": entry.min_core.as_ref().map(ToString::to_string),
                "yanked": entry.yanked.as_ref().map(|yank| yank.reason.to_string()),
                "requires": entry.requires.iter().map(|it| format!("{} {}", it.name, it.version)).collect::<Vec<_>>(),
            })
        };
        let all: Vec<Value> = known.versions.all().iter().rev().map(one).collect();
        Ok(json!({"name": name.as_str(), "registry": known.address, "versions": all}))
    }
}

fn names(requires: &[Dependency]) -> Vec<String> {
    requires.iter().map(|it| it.name.to_string()).collect()
}

fn parsed(name: &str) -> Result<PackageName, Refusal> {
    name.parse().map_err(|_| {
        let message = format!("{name:?} is not the name of a package");
        Refusal::conflict(message, "a package is called NAMESPACE/NAME, as in acme/vault")
    })
}

fn gone(locked: &Locked, address: &str) -> Refusal {
    let message =
        format!("the registry {address} does not have {} {} any more", locked.name, locked.version);
    Refusal::unavailable(message, "use another version: `opal plugin update`")
}
