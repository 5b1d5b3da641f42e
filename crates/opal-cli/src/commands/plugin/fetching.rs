//! Packages of registries and git: the helper resolves and fetches them, and nothing else does.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::hash::Digest;
use opal_core::wiped::Wiped;
use opal_helper::Parcel;
use opal_plugins::address::Address;
use opal_plugins::installed::Installed;
use opal_plugins::lock::{Lock, Locked};
use opal_plugins::project::Wanted;
use opal_plugins::registries::{CredentialSource, Known, KnownError};
use opal_trust::policy::{PluginRules, Policy};
use opal_vault::root::Root;
use serde_json::{Value, json};

use super::project::Project;
use crate::ambient::variable;
use crate::context::Context;
use crate::decorators::{core, effective};
use crate::failure::{Exit, Failure};
use crate::{helpers, rules};

/// The variables that `git`, credentials and connections may need.
const VARIABLES: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_GLOBAL",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "DOCKER_CONFIG",
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

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
        let known = Known::load(&self.root).map_err(|error| unknown(&self.root, error))?;
        let variables = VARIABLES.iter().filter_map(|name| Some((*name, variable(name)?)));
        let variables: Vec<(&str, Wiped<String>)> = variables
            .map(|(name, value)| (name, Wiped::new(value.to_string_lossy().into_owned())))
            .collect();
        let mut parcel = Parcel::default();
        for (_, value) in &variables {
            parcel = parcel.with(value.as_bytes());
        }
        let mut credentials = Vec::new();
        for one in &known.credentials {
            match &one.from {
                CredentialSource::Command(line) => {
                    credentials.push(json!({"host": one.host, "command": line}));
                }
                CredentialSource::Environment(name) => {
                    if let Some(value) = variable(name) {
                        credentials.push(json!({"host": one.host}));
                        parcel = parcel.with(value.to_string_lossy().as_bytes());
                    }
                }
            }
        }
        let top = self.project.top();
        let common = json!({
            "what": what,
            "words": words,
            "root": self.root.path().display().to_string(),
            "folder": top.display().to_string(),
            "core": core().to_string(),
            "now": seconds(),
            "registries": registries,
            "keys": self.policy.keys.iter().map(|(address, key)| [address.clone(), key.to_string()]).collect::<Vec<_>>(),
            "from": self.from.as_deref().map(Path::display).map(|it| it.to_string()),
            "variables": variables.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            "credentials": credentials,
        });
        if let (Some(more), Value::Object(common)) = (more.as_object_mut(), common) {
            more.extend(common);
        }
        parcel.head = json!({"registry": more});
        let answer = helpers::extra().ask(&parcel, &mut |_| Parcel::default());
        let answer = answer.map_err(|unusable| helpers::failure(&unusable))?;
        match answer.head.get("refused") {
            Some(refused) => Err(refusal(refused).unwrap_or_else(silent)),
            None => Ok(answer.head),
        }
    }
}

fn seconds() -> u64 {
    let now = opal_session::clock::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

fn refusal(refused: &Value) -> Option<Failure> {
    let exit = match refused.get("exit")?.as_u64()? {
        65 => Exit::Source,
        74 => Exit::Write,
        77 => Exit::NotTrusted,
        78 => Exit::Configuration,
        _ => Exit::Unavailable,
    };
    let text = |key: &str| Some(refused.get(key)?.as_str()?.to_owned());
    Some(Failure::new(exit, text("message")?, text("help")?))
}

fn silent() -> Failure {
    let message = "`opal-extra` gave an answer that cannot be understood";
    Failure::new(Exit::Bug, message, "install opal again, all of one build")
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

fn unknown(root: &Root, error: KnownError) -> Failure {
    match error {
        KnownError::Unusable(error) => {
            let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Configuration };
            Failure::new(exit, error.to_string(), error.help())
        }
        KnownError::Invalid(error) => {
            let file = root.path().join("config").join(opal_plugins::registries::FILE);
            let message = format!("{}:{}: {}", file.display(), error.line, error.message);
            Failure::new(Exit::Configuration, message, "correct the file")
        }
    }
}
