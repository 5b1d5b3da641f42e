//! The decorators of a provider, each made when it is named: a provider has thousands.
//!
//! `index.jsonl` says of each decorator what it is and where it is in `manifest.yaml`. Its lines are in
//! the order of their paths, so one is found without reading the others.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use opal_core::Registry;
use opal_core::data::{Data, json};
use opal_core::decorator::{
    Cost, Descriptor, Exposure, Param, Plugin, Presence, Resource, Settings,
};
use opal_core::recipe::template::Template;
use opal_core::recipe::{self, ADDED, Way};
use opal_core::registry::Catalog;

use super::adapt::{Around, ProviderAdapter};
use super::identity::TypeIdentity;
use super::{ENGINE, Provider};
use crate::manifest::decorator;

/// Bytes of the description of one decorator.
const MOST_BYTES: usize = 16 << 20;

#[derive(Debug)]
pub struct ProviderCatalog {
    provider: &'static Provider,
    plugin: &'static Plugin,
    segment: &'static str,
    index: String,
    manifest: File,
    names: OnceLock<Vec<&'static str>>,
    made: Mutex<BTreeMap<String, Option<&'static Descriptor>>>,
    /// What its paths must not be.
    built_in: &'static Registry,
}

/// What the index says of a decorator.
struct Entry {
    path: String,
    kind: Kind,
    /// `aws_vpc`; empty for the block.
    of: String,
    /// Attributes of its identity that must be given.
    required: Vec<String>,
    offset: u64,
    length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Resource,
    Data,
    Provider,
}

impl ProviderCatalog {
    #[must_use]
    pub fn new(
        provider: &'static Provider,
        index: String,
        manifest: File,
        built_in: &'static Registry,
    ) -> Self {
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let plugin = Box::leak(Box::new(Plugin {
            name: leak(provider.name().to_owned()),
            version: leak(provider.version().to_owned()),
            source: leak(provider.source()),
            verification: "none",
            signed_by: provider.signed_by().map(|key| leak(key.to_owned())),
            checksum: leak(provider.checksum()),
            engine: ENGINE,
            capabilities: &[],
        }));
        Self {
            provider,
            plugin,
            segment: leak(provider.wanted.segment.clone()),
            index,
            manifest,
            names: OnceLock::new(),
            made: Mutex::default(),
            built_in,
        }
    }

    fn entry(line: &str) -> Option<Entry> {
        let Ok(Data::Map(fields)) = json::read(line) else { return None };
        let text = |name: &str| fields.get(name).and_then(Data::as_text).map(str::to_owned);
        let number = |name: &str| match fields.get(name) {
            Some(Data::Int(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        let kind = match text("kind")?.as_str() {
            "resource" => Kind::Resource,
            "data" => Kind::Data,
            "provider" => Kind::Provider,
            _ => return None,
        };
        let required = match fields.get("identity") {
            Some(Data::Map(identity)) => match identity.get("required") {
                Some(Data::Array(names)) => {
                    names.iter().filter_map(Data::as_text).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        Some(Entry {
            path: text("path")?,
            kind,
            of: text("type").unwrap_or_default(),
            required,
            offset: number("offset")?,
            length: usize::try_from(number("length")?).ok().filter(|it| *it <= MOST_BYTES)?,
        })
    }

    /// The line of a path: the lines are in order.
    fn find(&self, path: &str) -> Option<Entry> {
        let (mut low, mut high) = (0, self.index.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let middle = self.index[..self.index.floor_char_boundary(middle)]
                .rfind('\n')
                .map_or(0, |at| at + 1)
                .max(low);
            let end = self.index[middle..].find('\n').map_or(self.index.len(), |at| middle + at);
            let entry = Self::entry(&self.index[middle..end])?;
            match entry.path.as_str().cmp(path) {
                std::cmp::Ordering::Equal => return Some(entry),
                std::cmp::Ordering::Less => low = end + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn make(&self, path: &str) -> Option<&'static Descriptor> {
        let entry = self.find(path)?;
        let mut bytes = vec![0; entry.length];
        self.manifest.read_exact_at(&mut bytes, entry.offset).ok()?;
        let declared = decorator(std::str::from_utf8(&bytes).ok()?, self.built_in)?;
        let described = declared.descriptor;
        let block: &'static str = Box::leak(format!("{}.provider", self.segment).into_boxed_str());
        let path: &'static str = Box::leak(entry.path.into_boxed_str());
        let base =
            Descriptor { path, plugin: Some(self.plugin), cost: Cost::Expensive, ..described };
        let is_absent = path.ends_with(".absent");
        let yaml: &'static str = Box::leak(entry.of.clone().into_boxed_str());
        let of = if is_absent { format!("{}.absent", entry.of) } else { entry.of };
        let adapter = || -> &'static ProviderAdapter {
            let (returns, provider) = (declared.returns, self.provider);
            let ty = base.returns.as_ref().map(|returns| returns.ty.clone());
            Box::leak(Box::new(ProviderAdapter { provider, path, of, returns, ty }))
        };
        let settings = Settings::Inherited(block);
        Some(Box::leak(Box::new(match entry.kind {
            Kind::Provider => {
                Descriptor { settings: Settings::Given, action: Some(&Around), ..base }
            }
            Kind::Data => {
                // Only the fields that its schema marks are secret.
                let is_secret = base.exposure == Exposure::Secret;
                let exposure = if is_secret { Exposure::Marked } else { base.exposure };
                let (acts_when_read, resolver) = (recipe::acts(yaml), Some(adapter() as _));
                Descriptor { settings, resolver, exposure, acts_when_read, ..base }
            }
            Kind::Resource => {
                let adapter = adapter();
                let key = base.resource.as_ref().map_or(&[][..], |it| it.key);
                let (params, key) = match self.identifying(yaml, path, base.params) {
                    Some((params, own)) => (params, own),
                    None => (base.params, key),
                };
                let resource = Some(Resource { yaml, key, verify: adapter });
                // Only the fields that its schema marks are secret.
                let exposure = Exposure::Plain;
                let (provider, required) = (self.provider, entry.required);
                let identity = TypeIdentity { provider, of: yaml, required };
                let identified: &'static TypeIdentity = Box::leak(Box::new(identity));
                let identified = Some(identified as _);
                Descriptor {
                    params,
                    settings,
                    action: Some(adapter),
                    resource,
                    exposure,
                    identified,
                    ..base
                }
            }
        })))
    }
}

type Identifying = (&'static [Param], &'static [&'static str]);

impl ProviderCatalog {
    /// The parameters and the key of a type that a recipe of the project identifies: a manifest does not
    /// know those recipes. `.absent` has what identifies.
    fn identifying(&self, of: &str, path: &str, own: &'static [Param]) -> Option<Identifying> {
        let way = self.provider.project.recipes.rows.way(of)?;
        let filled: Option<Vec<String>> = match way {
            Way::Import(template) => Some(template.arguments()),
            Way::Identity(all) => Some(all.values().flat_map(Template::arguments).collect()),
            // It is found by all that a create would plan.
            Way::Replay(_) => None,
            Way::Mark(_) | Way::State => return None,
        };
        let identifies = |param: &&Param| match &filled {
            None => !ADDED.contains(&param.name),
            Some(filled) => filled.iter().any(|it| {
                let top = it.split('.').next().unwrap_or(it);
                param.name == top || param.name.strip_suffix('_') == Some(top)
            }),
        };
        let twin = path.strip_suffix(".absent");
        let all = match twin {
            Some(twin) => self.make(twin)?.params,
            None => own,
        };
        let found: Vec<&Param> = all.iter().filter(identifies).collect();
        let is_required = |param: &&&Param| matches!(param.presence, Presence::Required);
        let key = found.iter().filter(is_required).map(|param| param.name);
        let key: Vec<&'static str> = key.chain(["mark", "adopt"]).collect();
        let params = match twin {
            None => own,
            Some(_) => {
                let has = |name: &str| found.iter().any(|param| param.name == name);
                let rest = own.iter().filter(|param| !has(param.name)).cloned();
                // Whether they identify, `check` says: `adopt` does so without them.
                let optional = |param: &&Param| match filled {
                    Some(_) => Param { presence: Presence::Optional, ..(*param).clone() },
                    None => (*param).clone(),
                };
                let params: Vec<Param> = found.iter().map(optional).chain(rest).collect();
                Box::leak(params.into_boxed_slice())
            }
        };
        Some((params, Box::leak(key.into_boxed_slice())))
    }
}

impl Catalog for ProviderCatalog {
    fn segment(&self) -> &'static str {
        self.segment
    }

    fn plugin(&self) -> &'static Plugin {
        self.plugin
    }

    fn names(&self) -> Vec<&'static str> {
        let names = self.names.get_or_init(|| {
            let entries = self.index.lines().filter_map(Self::entry);
            entries.map(|it| &*Box::leak(it.path.into_boxed_str())).collect()
        });
        names.clone()
    }

    fn get(&self, path: &str) -> Option<&'static Descriptor> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(path) {
            return *known;
        }
        let found = self.make(path);
        made.insert(path.to_owned(), found);
        found
    }

    fn step_type(&self, name: &str) -> Option<&'static str> {
        let mut entries = self.index.lines().filter_map(Self::entry);
        let is_it = |it: &Entry| {
            it.kind == Kind::Resource && it.of == name && !it.path.ends_with(".absent")
        };
        let found = entries.find(is_it)?;
        self.names().into_iter().find(|path| *path == found.path)
    }
}
