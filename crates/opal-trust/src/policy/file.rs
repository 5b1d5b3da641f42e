//! The files that rules are in, in TOML, read strictly: a word that is not understood might be the
//! one that should keep someone out.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use opal_core::{Duration, suggest};
use toml_edit::{Document, Item, TableLike, Value};
use zeroize::Zeroizing;

use super::{Policy, Randomness};
use crate::keys::PublicKey;
use opal_vault::root::{self, RootError, Why};

/// Bytes of a file of rules.
const MAX_BYTES: u64 = 256 * 1024;

const KEYS: [&str; 7] = [
    "require_signature",
    "trusted_keys",
    "randomness",
    "max_age",
    "require_expiry",
    "direct",
    "approval",
];

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

/// What is wrong with a file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    pub file: PathBuf,
    /// From 1; none where the file as a whole is meant.
    pub line: Option<usize>,
    /// Lower case, without a full stop.
    pub message: String,
    pub help: String,
    /// Another user could have written the file.
    pub is_unsafe: bool,
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

type Bytes = Result<Zeroizing<Vec<u8>>, RootError>;

fn read(path: &Path, bytes: fn(&Path, u64) -> Bytes) -> Result<Option<String>, PolicyError> {
    let whole = |message: String, help: String, is_unsafe: bool| PolicyError {
        file: path.into(),
        line: None,
        message,
        help,
        is_unsafe,
    };
    let bytes = match bytes(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => match error.why {
            // Where the directory is missing or something else, there is no file in it.
            Why::Missing | Why::NotADirectory => {
                let Some(link) = leads_nowhere(path) else { return Ok(None) };
                let message = format!(
                    "the file cannot be read: the symlink `{}` leads nowhere",
                    link.display()
                );
                let help = "create what it points to, or remove the symlink";
                return Err(whole(message, help.into(), false));
            }
            Why::Foreign(_) => {
                let help = format!("check its content, then run `chown root {}`", path.display());
                return Err(whole(error.to_string(), help, true));
            }
            _ => return Err(whole(error.to_string(), error.help(), error.is_unsafe())),
        },
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err(whole("the file is not UTF-8".into(), "save it as UTF-8".into(), false)),
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
        let reader = Reader { file, text };
        let document = reader.document()?;
        reader.policy(document.as_table())
    }
}

impl ProjectFile {
    /// An `opal.mod`.
    pub fn parse(file: &Path, text: &str) -> Result<Self, PolicyError> {
        let reader = Reader { file, text };
        let document = reader.document()?;
        let mut project = Self::default();
        for (name, item) in document.iter() {
            match name {
                "name" => {
                    let name = item.as_str().filter(|name| !name.trim().is_empty());
                    let help = "write the project's name, such as `name = \"shop\"`";
                    let name = name.ok_or_else(|| reader.wrong(item, "name", "a text", help))?;
                    project.name = Some(name.to_owned());
                }
                "policy" => {
                    let help = "write it as a table: `[policy]` on its own line";
                    let table = item.as_table_like();
                    let table =
                        table.ok_or_else(|| reader.wrong(item, "policy", "a table", help))?;
                    project.policy = reader.policy(table)?;
                }
                other => {
                    return Err(reader.unknown(document.as_table(), other, &["name", "policy"]));
                }
            }
        }
        Ok(project)
    }
}

pub(super) struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn document(&self) -> Result<Document<&str>, PolicyError> {
        Document::parse(self.text).map_err(|error| {
            self.error(error.span(), error.message().trim().replace('\n', ", "), "fix the TOML")
        })
    }

    fn policy(&self, table: &dyn TableLike) -> Result<Policy, PolicyError> {
        let mut policy = Policy::default();
        for (name, item) in table.iter() {
            match name {
                "require_signature" => policy.require_signature = self.bool(item, name)?,
                "require_expiry" => policy.require_expiry = self.bool(item, name)?,
                "trusted_keys" => policy.trusted_keys = Some(self.keys(item)?),
                "max_age" => policy.max_age = Some(self.age(item)?),
                "randomness" => policy.randomness = self.randomness(item)?,
                "direct" => policy.direct.refuse_all = self.refuses_direct(item)?,
                "approval" => policy.direct.refused = self.rules(item)?,
                other => return Err(self.unknown(table, other, &KEYS)),
            }
        }
        let contradicts = |item: &&Item| item.as_bool() == Some(false);
        let contradiction = table.get("require_signature").filter(contradicts);
        if let (Some(item), true) = (contradiction, policy.trusted_keys.is_some()) {
            return Err(self.error(
                item.span(),
                "`require_signature = false` contradicts `trusted_keys`, which require a signature",
                "remove one of the two",
            ));
        }
        policy.require_signature |= policy.trusted_keys.is_some();
        Ok(policy)
    }

    fn bool(&self, item: &Item, name: &str) -> Result<bool, PolicyError> {
        let help = format!("write `{name} = true`");
        item.as_bool().ok_or_else(|| self.wrong(item, name, "true or false", &help))
    }

    fn keys(&self, item: &Item) -> Result<BTreeSet<PublicKey>, PolicyError> {
        let help = "write `trusted_keys = [\"ed25519:…\"]`; `opal keys show NAME` prints one";
        let list = item.as_array();
        let list = list.ok_or_else(|| self.wrong(item, "trusted_keys", "a list of keys", help))?;
        let keys = list.iter().map(|value| {
            let key = value.as_str().and_then(|text| text.parse().ok());
            key.ok_or_else(|| self.error(value.span(), "invalid public key", help))
        });
        keys.collect()
    }

    fn age(&self, item: &Item) -> Result<Duration, PolicyError> {
        let help = "write a duration, such as `max_age = \"24h\"`";
        let text = item.as_str();
        let text = text.ok_or_else(|| self.wrong(item, "max_age", "a duration", help))?;
        match Duration::parse(text) {
            Ok(age) if age.as_nanos() > 0 => Ok(age),
            Ok(_) => Err(self.error(item.span(), "`max_age` must be longer than zero", help)),
            Err(error) => Err(self.error(item.span(), format!("`max_age`: {error}"), help)),
        }
    }

    fn randomness(&self, item: &Item) -> Result<Randomness, PolicyError> {
        match item.as_str() {
            Some("any") => Ok(Randomness::Any),
            Some("contract") => Ok(Randomness::Contract),
            _ => {
                let help = "write `randomness = \"contract\"`";
                Err(self.wrong(item, "randomness", "`contract` or `any`", help))
            }
        }
    }

    pub(super) fn wrong(&self, item: &Item, name: &str, expected: &str, help: &str) -> PolicyError {
        let found = match item {
            Item::Value(Value::String(_)) => "another text",
            Item::Value(value) => value.type_name(),
            other => other.type_name(),
        };
        self.error(item.span(), format!("`{name}` expects {expected}, got {found}"), help)
    }

    fn unknown(&self, table: &dyn TableLike, name: &str, known: &[&str]) -> PolicyError {
        let help = match suggest::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of: `{}`", known.join("`, `")),
        };
        let span = table.get_key_value(name).and_then(|(key, _)| key.span());
        self.error(span, format!("unknown key `{name}`"), help)
    }

    pub(super) fn error(
        &self,
        span: Option<Range<usize>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> PolicyError {
        let line = span.map(|span| {
            let before = self.text.as_bytes().iter().take(span.start);
            1 + before.filter(|byte| **byte == b'\n').count()
        });
        PolicyError {
            file: self.file.into(),
            line,
            message: message.into(),
            help: help.into(),
            is_unsafe: false,
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for PolicyError {}

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
            files.load(Policy::default()).map_err(|error| error.message)
        };
        for (user, project) in [
            (Some("config/policy.toml"), None),
            (Some("way/policy.toml"), None),
            (Some("way/further/policy.toml"), None),
            (None, Some("opal.mod")),
        ] {
            let message = load(user, project).unwrap_err();
            assert!(message.starts_with("the file cannot be read: the symlink"), "{message}");
        }
        for none in ["config/other.toml", "no/policy.toml", "file/policy.toml"] {
            assert!(load(Some(none), None).is_ok(), "{none}");
        }
    }
}
