//! What `opal` sends: one document, and after it the texts that may be secret.

use std::path::PathBuf;

use opal_helper::Parcel;
use opal_plugins::address::{Address, Repository};
use opal_plugins::manifest::describe;
use opal_plugins::names::Requirement;
use opal_plugins::package::Package;
use opal_trust::keys::PublicKey;
use semver::Version;
use serde_json::Value;

use crate::format::{Dependency, PackageName, Sha256};
use crate::refusal::Refusal;
use crate::sources::Reach;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) what: String,
    /// The runtime root.
    pub(super) root: PathBuf,
    pub(super) core: Version,
    pub(super) now: u64,
    pub(super) registries: Vec<(String, String)>,
    keys: Vec<(String, String)>,
    /// A directory with a mirror.
    pub(super) from: Option<String>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) locked: Vec<Locked>,
    /// What may get another version: everything where it is empty, nothing where it is none.
    pub(super) update: Option<Vec<String>>,
    pub(super) words: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Wanted {
    Registry { name: PackageName, requirement: Requirement },
    Git { key: String, repository: Repository, reference: String },
    Local { name: PackageName, version: Version, requires: Vec<Dependency> },
}

impl Wanted {
    pub(super) fn is_local(&self, name: &str) -> bool {
        matches!(self, Self::Local { name: own, .. } if own.as_str() == name)
    }
}

#[derive(Debug)]
pub(super) struct Locked {
    pub(super) name: String,
    pub(super) version: Version,
    pub(super) source: String,
    pub(super) checksum: Option<Sha256>,
    pub(super) requires: Vec<String>,
}

impl Request {
    pub(super) fn read(parcel: &Parcel) -> Option<(Self, Reach)> {
        let head = parcel.head.get("registry")?;
        let text = |key: &str| head.get(key).and_then(Value::as_str).map(str::to_owned);
        let request = Self {
            what: text("what")?,
            root: text("root")?.into(),
            core: text("core")?.parse().ok()?,
            now: head.get("now")?.as_u64()?,
            registries: pairs(head.get("registries")?)?,
            keys: pairs(head.get("keys")?)?,
            from: text("from"),
            wanted: each(head.get("wanted")?, wanted)?,
            locked: each(head.get("locked")?, locked)?,
            update: match head.get("update")? {
                Value::Null => None,
                some => Some(texts(some)?),
            },
            words: texts(head.get("words")?)?,
        };
        let reach = Reach::read(head, (0..).map_while(|index| parcel.text(index)))?;
        Some((request, reach))
    }

    /// The keys of indexes. `opal` has read them before.
    pub(super) fn keys(&self) -> Vec<(String, PublicKey)> {
        let one = |(address, key): &(String, String)| Some((address.clone(), key.parse().ok()?));
        self.keys.iter().filter_map(one).collect()
    }
}

fn each<T>(list: &Value, read: fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    list.as_array()?.iter().map(read).collect()
}

fn texts(list: &Value) -> Option<Vec<String>> {
    each(list, |it| it.as_str().map(str::to_owned))
}

fn pairs(list: &Value) -> Option<Vec<(String, String)>> {
    each(list, |pair| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned())))
}

fn wanted(one: &Value) -> Option<Wanted> {
    let text = |key: &str| one.get(key).and_then(Value::as_str);
    if let Some(name) = text("registry") {
        let requirement = text("version")?.parse().ok()?;
        return Some(Wanted::Registry { name: name.parse().ok()?, requirement });
    }
    if let Some(key) = text("git") {
        let Ok(Address::Git(repository)) = Address::parse(key) else { return None };
        let reference = text("version")?.to_owned();
        return Some(Wanted::Git { key: key.to_owned(), repository, reference });
    }
    let requires = pairs(one.get("requires")?)?.into_iter().map(|(name, version)| {
        Some(Dependency { name: name.parse().ok()?, version: version.parse().ok()? })
    });
    Some(Wanted::Local {
        name: text("local")?.parse().ok()?,
        version: text("version")?.parse().ok()?,
        requires: requires.collect::<Option<_>>()?,
    })
}

fn locked(one: &Value) -> Option<Locked> {
    let text = |key: &str| one.get(key).and_then(Value::as_str);
    Some(Locked {
        name: text("name")?.to_owned(),
        version: text("version")?.parse().ok()?,
        source: text("source")?.to_owned(),
        checksum: text("checksum").and_then(|text| text.parse().ok()),
        requires: texts(one.get("requires")?)?,
    })
}

/// What a package says about itself.
#[derive(Debug)]
pub(super) struct About {
    pub(super) name: PackageName,
    pub(super) version: Version,
    pub(super) requires: Vec<Dependency>,
}

pub(super) fn about(package: &Package, what: &str) -> Result<About, Refusal> {
    let refused = |why: String| Refusal::invalid(format!("{what} is not a package: {why}"));
    let found = describe(package).map_err(refused)?;
    let requires = found
        .dependencies
        .into_iter()
        .map(|(name, version)| Some(Dependency { name: name.parse().ok()?, version }));
    Ok(About {
        name: found.name.parse().map_err(|_| refused("it has no name".to_owned()))?,
        version: found.version,
        requires: requires.collect::<Option<_>>().unwrap_or_default(),
    })
}
