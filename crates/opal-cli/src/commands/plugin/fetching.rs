//! Packages of registries and git: the helper resolves and fetches them, and nothing else does.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::hash::Digest;
use opal_helper::Parcel;
use opal_plugins::address::Address;
use opal_plugins::installed::Installed;
use opal_plugins::lock::{Lock, Locked};
use opal_plugins::project::Wanted;
use opal_trust::policy::{PluginRules, Policy};
use opal_vault::root::Root;
use serde_json::{Value, json};

use super::project::Project;
use super::reaching::{self, silent};
use crate::context::Context;
use crate::decorators::{core, effective};
use crate::failure::Failure;
use crate::rules;

/// Asks the helper on behalf of a project.
pub(super) struct Fetching<'f> {
    root: Root,
    project: &'f Project,
    policy: PluginRules,
    /// `--from DIR`.
    from: Option<PathBuf>,
}

/// What the helper found.
pub(super) struct Resolved {
    /// With the packages of directories; capabilities are not known yet.
    pub(super) lock: Lock,
    pub(super) notes: Vec<String>,
}

impl<'f> Fetching<'f> {
    pub(super) fn new(
        context: &Context<'_>,
        matches: &ArgMatches,
        project: &'f Project,
    ) -> Result<Self, Failure> {
        let root = context.needed_root(matches.get_one("root"))?;
        let policy =
            rules::of(Some(&root), Policy::default(), std::slice::from_ref(&project.file))?.plugins;
        let from = matches.try_get_one::<PathBuf>("from").ok().flatten();
        let from =
            from.map(|from| from.canonicalize().map_err(|error| Failure::unreadable(from, &error)));
        Ok(Self { root, project, policy, from: from.transpose()? })
    }

    pub(super) const fn policy(&self) -> &PluginRules {
        &self.policy
    }

    /// A version of every package, and all of them on this machine. `update`: what may change.
    pub(super) fn resolve(
        &self,
        wanted: &[Wanted],
        update: Option<&[String]>,
    ) -> Result<Resolved, Failure> {
        let mut lock = Lock::default();
        let mut documents = Vec::new();
        for one in wanted {
            documents.push(match &one.address {
                Address::Registry(name) => {
                    json!({"registry": name, "version": one.requirement.to_string()})
                }
                Address::Git(_) => json!({"git": one.key, "version": one.requirement.to_string()}),
                Address::Directory(_) => {
                    let local = self.project.local(one)?;
                    let document = written(&local);
                    lock.packages.extend(Installed::lock(&[local]).packages);
                    document
                }
            });
        }
        let is_elsewhere = |it: &Wanted| !matches!(it.address, Address::Directory(_));
        let is_missing = |name: &String| lock.get(name).is_none();
        let mut needed = lock.packages.iter().flat_map(|it| it.requires.iter());
        let has_more = needed.any(is_missing) && !self.project.registries.is_empty();
        if !wanted.iter().any(is_elsewhere) && !has_more {
            return Ok(Resolved { lock, notes: Vec::new() });
        }
        let old = self.project.lock.as_ref().map_or(&[][..], |lock| &lock.packages);
        let locked: Vec<Value> = old.iter().filter(|it| it.checksum.is_some()).map(entry).collect();
        let more = json!({"wanted": documents, "locked": locked, "update": update});
        let answer = self.ask("resolve", &[], more)?;
        let found = answer.get("packages").and_then(Value::as_array);
        let found: Option<Vec<Locked>> =
            found.map(|all| all.iter().map(read).collect()).unwrap_or_default();
        for mut one in found.ok_or_else(silent)? {
            // What stays as it was keeps its publisher; another version may have another one, and then a
            // person is asked.
            let same = old.iter().find(|it| it.name == one.name && it.checksum == one.checksum);
            one.signed_by = same.and_then(|it| it.signed_by.clone());
            lock.packages.push(one);
        }
        lock.packages.sort_by(|a, b| a.name.cmp(&b.name));
        let notes = answer.get("notes").and_then(Value::as_array).into_iter().flatten();
        let notes = notes.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Resolved { lock, notes })
    }

    /// What the registries of the project have; `what` is `search` or `versions`.
    pub(super) fn list(&self, what: &str, words: &[String]) -> Result<Value, Failure> {
        let none: [Value; 0] = [];
        self.ask(what, words, json!({"wanted": none, "locked": none, "update": null}))
    }

    fn ask(&self, what: &str, words: &[String], mut more: Value) -> Result<Value, Failure> {
        let registries = effective(&self.policy, &self.project.registries);
        let top = self.project.top();
        let common = json!({
            "what": what,
            "words": words,
            "folder": top.display().to_string(),
            "core": core().to_string(),
            "registries": registries,
            "keys": self.policy.keys.iter().map(|(address, key)| [address.clone(), key.to_string()]).collect::<Vec<_>>(),
            "from": self.from.as_deref().map(Path::display).map(|it| it.to_string()),
        });
        if let (Some(more), Value::Object(common)) = (more.as_object_mut(), common) {
            more.extend(common);
        }
        let mut parcel = reaching::add(&self.root, &mut more, Parcel::default())?;
        parcel.head = json!({"registry": more});
        Ok(reaching::ask(&parcel, &mut |_| Parcel::default())?.head)
    }
}

fn written(local: &Installed) -> Value {
    let requires = local.manifest.description.dependencies.iter();
    let requires: Vec<[String; 2]> =
        requires.map(|(name, requirement)| [name.clone(), requirement.to_string()]).collect();
    json!({"local": local.name(), "version": local.version().to_string(), "requires": requires})
}

fn entry(locked: &Locked) -> Value {
    json!({
        "name": locked.name,
        "version": locked.version.to_string(),
        "source": locked.source,
        "checksum": locked.checksum.map(|it| format!("sha256:{}", it.hex())),
        "requires": locked.requires,
    })
}

fn read(found: &Value) -> Option<Locked> {
    let text = |key: &str| found.get(key).and_then(Value::as_str);
    let requires = found.get("requires")?.as_array()?.iter();
    Some(Locked {
        name: text("name")?.to_owned(),
        version: text("version")?.parse().ok()?,
        source: text("source")?.to_owned(),
        checksum: Some(Digest::parse(text("checksum")?.strip_prefix("sha256:")?)?),
        signed_by: None,
        capabilities: Default::default(),
        requires: requires.map(|it| it.as_str().map(str::to_owned)).collect::<Option<_>>()?,
    })
}
