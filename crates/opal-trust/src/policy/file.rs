//! The files that rules are in, in TOML, read strictly: a word that is not understood might be the
//! one that should keep someone out.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use opal_core::Duration;
use opal_core::wiped::Wiped;
use toml_edit::{Document, Item, TableLike, Value};

use super::error::{PolicyError, PolicyFault, Setting};
use super::mcp::{self, McpRules};
use super::{Policy, Randomness};
use crate::keys::PublicKey;
use opal_vault::root::{self, RootError, Why};

/// Bytes of a file of rules.
const MAX_BYTES: u64 = 256 * 1024;

const KEYS: [&str; 12] = [
    "require_signature",
    "trusted_keys",
    "dispatchers",
    "randomness",
    "max_age",
    "require_expiry",
    "direct",
    "tree",
    "environment",
    "approval",
    "plugins",
    "mcp",
];

/// Those that a project has no say in come last.
const KEYS_OF_PROJECT: &[&str] = KEYS.split_at(11).0;

/// The keys of an `opal.mod`.
const PROJECT_KEYS: [&str; 5] = ["name", "policy", "plugins", "registries", "terraform"];

/// Where rules may appear. A file that is missing says nothing.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// `/etc/opal/policy.toml`.
    pub system: Option<PathBuf>,
    /// `config/policy.toml` under the runtime root.
    pub user: Option<PathBuf>,
    /// The `opal.mod` of each project whose files are used.
    pub projects: Vec<PathBuf>,
}

/// What a project says about itself in `opal.mod`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFile {
    pub name: Option<String>,
    pub policy: Policy,
}

impl Files {
    /// All rules together, with those of the command line: the strictest win.
    pub fn load(&self, flags: Policy) -> Result<Policy, PolicyError> {
        let mut policy = flags;
        for path in self.system.iter().chain(&self.user) {
            if let Some(text) = read(path, root::read_guarded)? {
                policy = policy.merge(Policy::parse(path, &text)?);
            }
        }
        // Whoever may write the sources may write these; they can only tighten.
        for path in &self.projects {
            if let Some(text) = read(path, root::read_public)? {
                policy = policy.tightened_by(ProjectFile::parse(path, &text)?.policy);
            }
        }
        Ok(policy)
    }
}

pub(super) type Bytes = Result<Wiped<Vec<u8>>, RootError>;

pub(super) fn read(
    path: &Path,
    bytes: fn(&Path, u64) -> Bytes,
) -> Result<Option<String>, PolicyError> {
    let whole = |why: PolicyFault| PolicyError { file: path.into(), line: None, why };
    let bytes = match bytes(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        // Where the directory is missing or something else, there is no file in it.
        Err(RootError { why: Why::Missing | Why::NotADirectory, .. }) => {
            let Some(link) = leads_nowhere(path) else { return Ok(None) };
            return Err(whole(PolicyFault::LeadsNowhere(link.into())));
        }
        Err(error) => return Err(whole(PolicyFault::Unusable(error))),
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err(whole(PolicyFault::NotUtf8)),
    }
}

/// The symlink on the way to a file that leads nowhere. Somebody put it there, so that there should
/// be rules, and nobody knows which.
fn leads_nowhere(path: &Path) -> Option<&Path> {
    let there = path.ancestors().find_map(|it| Some((it, it.symlink_metadata().ok()?)));
    there.filter(|(at, found)| found.is_symlink() && at.metadata().is_err()).map(|(at, _)| at)
}

impl Policy {
    /// A file of rules and nothing else.
    pub fn parse(file: &Path, text: &str) -> Result<Self, PolicyError> {
        let reader = Reader { file, text, is_project: false };
        let document = reader.document()?;
        reader.policy(document.as_table())
    }
}

impl ProjectFile {
    /// An `opal.mod`.
    pub fn parse(file: &Path, text: &str) -> Result<Self, PolicyError> {
        let reader = Reader { file, text, is_project: true };
        let document = reader.document()?;
        let mut project = Self::default();
        for (name, item) in document.iter() {
            match name {
                "name" => {
                    let name = item.as_str().filter(|name| !name.trim().is_empty());
                    let name = name.ok_or_else(|| reader.wrong(item, Setting::Name))?;
                    project.name = Some(name.to_owned());
                }
                "policy" => {
                    let table = item.as_table_like();
                    let table = table.ok_or_else(|| reader.wrong(item, Setting::Policy))?;
                    reader.project_plugins(table)?;
                    project.policy = reader.policy(table)?;
                }
                // Dependencies and not policy: `opal-plugins` reads them.
                "plugins" | "registries" | "terraform" => {}
                other => return Err(reader.unknown(document.as_table(), other, &PROJECT_KEYS)),
            }
        }
        Ok(project)
    }
}

pub(super) struct Reader<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
    /// Whether whoever may write the sources may write the file.
    pub(super) is_project: bool,
}

impl Reader<'_> {
    pub(super) fn document(&self) -> Result<Document<&str>, PolicyError> {
        Document::parse(self.text).map_err(|error| {
            let message = error.message().trim().replace('\n', ", ");
            self.error(error.span(), PolicyFault::Toml(message))
        })
    }

    fn policy(&self, table: &dyn TableLike) -> Result<Policy, PolicyError> {
        let mut policy = Policy::default();
        for (name, item) in table.iter() {
            match name {
                "require_signature" => {
                    policy.require_signature = self.bool(item, Setting::RequireSignature)?;
                }
                "require_expiry" => {
                    policy.require_expiry = self.bool(item, Setting::RequireExpiry)?;
                }
                "trusted_keys" => {
                    policy.trusted_keys = Some(self.keys(item, Setting::TrustedKeys)?);
                }
                "dispatchers" => {
                    policy.dispatchers = Some(self.keys(item, Setting::Dispatchers)?);
                }
                "max_age" => policy.max_age = Some(self.age(item)?),
                "randomness" => policy.randomness = self.randomness(item)?,
                "direct" => policy.refuses_direct = self.refuses_direct(item)?,
                "tree" => policy.tree = self.tree(item)?,
                "environment" => policy.environment = Some(self.environment(item)?),
                "approval" => policy.rules = self.rules(item)?,
                "plugins" => policy.plugins = self.plugins(item)?,
                "mcp" if !self.is_project => policy.mcp = self.mcp(item)?,
                other if self.is_project => {
                    return Err(self.unknown(table, other, KEYS_OF_PROJECT));
                }
                other => return Err(self.unknown(table, other, &KEYS)),
            }
        }
        let contradicts = |item: &&Item| item.as_bool() == Some(false);
        let contradiction = table.get("require_signature").filter(contradicts);
        if let (Some(item), true) = (contradiction, policy.trusted_keys.is_some()) {
            return Err(self.error(item.span(), PolicyFault::Contradiction));
        }
        policy.require_signature |= policy.trusted_keys.is_some();
        Ok(policy)
    }

    /// `[mcp]`: what agents may do.
    fn mcp(&self, item: &Item) -> Result<McpRules, PolicyError> {
        let table = item.as_table_like().ok_or_else(|| self.wrong(item, Setting::Mcp))?;
        let mut rules = McpRules::default();
        for (name, item) in table.iter() {
            match name {
                "projects" => {
                    let paths = self.texts(item, Setting::McpProjects)?;
                    if !paths.iter().all(|path| Path::new(path).is_absolute()) {
                        return Err(self.wrong(item, Setting::McpProjects));
                    }
                    rules.projects = Some(paths.into_iter().map(PathBuf::from).collect());
                }
                "tools" => {
                    let tools = self.texts(item, Setting::McpTools)?;
                    if !tools.iter().all(|tool| mcp::TOOLS.contains(&tool.as_str())) {
                        return Err(self.wrong(item, Setting::McpTools));
                    }
                    rules.tools = Some(tools);
                }
                "resolve" => rules.refuses_resolving = !self.bool(item, Setting::McpResolve)?,
                other => return Err(self.unknown(table, other, &mcp::KEYS)),
            }
        }
        Ok(rules)
    }

    pub(super) fn bool(&self, item: &Item, setting: Setting) -> Result<bool, PolicyError> {
        item.as_bool().ok_or_else(|| self.wrong(item, setting))
    }

    fn keys(&self, item: &Item, setting: Setting) -> Result<BTreeSet<PublicKey>, PolicyError> {
        let list = item.as_array().ok_or_else(|| self.wrong(item, setting))?;
        let keys = list.iter().map(|value| {
            let key = value.as_str().and_then(|text| text.parse().ok());
            key.ok_or_else(|| self.error(value.span(), PolicyFault::InvalidKey))
        });
        keys.collect()
    }

    pub(super) fn age(&self, item: &Item) -> Result<Duration, PolicyError> {
        let text = item.as_str().ok_or_else(|| self.wrong(item, Setting::MaxAge))?;
        let why = match Duration::parse(text) {
            Ok(age) if age.as_nanos() > 0 => return Ok(age),
            Ok(_) => PolicyFault::NoAge,
            Err(error) => PolicyFault::InvalidAge(error),
        };
        Err(self.error(item.span(), why))
    }

    fn randomness(&self, item: &Item) -> Result<Randomness, PolicyError> {
        match item.as_str() {
            Some("any") => Ok(Randomness::Any),
            Some("contract") => Ok(Randomness::Contract),
            _ => Err(self.wrong(item, Setting::Randomness)),
        }
    }

    pub(super) fn wrong(&self, item: &Item, setting: Setting) -> PolicyError {
        let found = match item {
            Item::Value(Value::String(_)) => "another text",
            Item::Value(value) => value.type_name(),
            other => other.type_name(),
        };
        self.error(item.span(), PolicyFault::WrongValue { setting, found })
    }

    pub(super) fn unknown(
        &self,
        table: &dyn TableLike,
        name: &str,
        known: &'static [&'static str],
    ) -> PolicyError {
        let span = table.get_key_value(name).and_then(|(key, _)| key.span());
        self.error(span, PolicyFault::UnknownKey { name: name.into(), known })
    }

    pub(super) fn error(&self, span: Option<Range<usize>>, why: PolicyFault) -> PolicyError {
        let line = span.map(|span| {
            let before = self.text.as_bytes().iter().take(span.start);
            1 + before.filter(|byte| **byte == b'\n').count()
        });
        PolicyError { file: self.file.into(), line, why }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_symlink_that_leads_nowhere_is_a_file_that_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("config")).unwrap();
        symlink("/nonexistent/policy.toml", at("config/policy.toml")).unwrap();
        symlink("/nonexistent", at("way")).unwrap();
        symlink("/nonexistent", at("opal.mod")).unwrap();
        fs::write(at("file"), "").unwrap();
        let load = |user: Option<&str>, project: Option<&str>| {
            let files = Files {
                system: None,
                user: user.map(at),
                projects: project.map(at).into_iter().collect(),
            };
            files.load(Policy::default()).map_err(|error| error.why)
        };
        for (user, project) in [
            (Some("config/policy.toml"), None),
            (Some("way/policy.toml"), None),
            (Some("way/further/policy.toml"), None),
            (None, Some("opal.mod")),
        ] {
            let why = load(user, project).unwrap_err();
            assert!(matches!(why, PolicyFault::LeadsNowhere(_)), "{why:?}");
        }
        for none in ["config/other.toml", "no/policy.toml", "file/policy.toml"] {
            assert!(load(Some(none), None).is_ok(), "{none}");
        }
    }
}
