//! What people accepted on this machine: `config/accepted.toml` of the runtime root.
//!
//! A checksum runs here only after somebody accepted it with its capabilities. No file of a project can
//! say so.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use opal_core::hash::Digest;
use opal_core::{LineIndex, Span};
use opal_vault::root::{Root, RootError, Why, read_guarded};
use opal_yaml::problems::Problems;

use crate::capability::Capability;
use crate::codes::CODES;
use crate::lock::{LockError, capabilities, list, quoted};
use crate::names::is_accepted_name;
use crate::toml;

/// The folder and the name of the file.
const FOLDER: &str = "config";
const NAME: &str = "accepted.toml";

/// Bytes of it.
pub const MAX_BYTES: u64 = 4 << 20;

/// A package that somebody accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted {
    pub name: String,
    pub version: String,
    pub checksum: Digest,
    pub capabilities: BTreeSet<Capability>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acceptances {
    pub accepted: BTreeSet<Accepted>,
    /// Directories whose packages may change without a question.
    pub trusted: BTreeSet<PathBuf>,
}

/// Why what was accepted is not known.
#[derive(Debug)]
pub enum AcceptError {
    Unusable(RootError),
    NotText,
    Invalid(LockError),
}

impl Acceptances {
    /// What was accepted on this machine; nothing where there is no file.
    pub fn load(root: &Root) -> Result<Self, AcceptError> {
        let bytes = match read_guarded(&Self::path(root), MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(RootError { why: Why::Missing | Why::NotADirectory, .. }) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(AcceptError::Unusable(error)),
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| AcceptError::NotText)?;
        Self::parse(text).map_err(AcceptError::Invalid)
    }

    #[must_use]
    pub fn path(root: &Root) -> PathBuf {
        root.path().join(FOLDER).join(NAME)
    }

    /// Keeps them on this machine.
    pub fn save(&self, root: &Root) -> Result<(), RootError> {
        root.replace(FOLDER, NAME, self.write().as_bytes()).map(drop)
    }

    /// Whether this checksum was accepted with all of these capabilities.
    #[must_use]
    pub fn accepts(&self, name: &str, checksum: &Digest, needed: &BTreeSet<Capability>) -> bool {
        let is_it = |it: &&Accepted| it.name == name && it.checksum == *checksum;
        self.accepted.iter().filter(is_it).any(|it| needed.is_subset(&it.capabilities))
    }

    /// What was accepted of a package, whatever its checksum.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Accepted> {
        self.accepted.iter().filter(move |it| it.name == name)
    }

    /// Whether a directory, without symlinks, is one that was marked or is below one.
    #[must_use]
    pub fn trusts(&self, directory: &Path) -> bool {
        directory.ancestors().any(|above| self.trusted.contains(above))
    }

    /// The text of the file, and of a list for `--accept`.
    #[must_use]
    pub fn write(&self) -> String {
        let mut out = String::from("version = 1\n");
        for one in &self.accepted {
            let _ = write!(
                out,
                "\n[[accepted]]\nname = {}\nversion = {}\nchecksum = {}\ncapabilities = {}\n",
                quoted(&one.name),
                quoted(&one.version),
                quoted(&format!("sha256:{}", one.checksum.hex())),
                list(one.capabilities.iter()),
            );
        }
        for directory in &self.trusted {
            let directory = quoted(&directory.display().to_string());
            let _ = write!(out, "\n[[trusted]]\ndirectory = {directory}\n");
        }
        out
    }

    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let mut problems = Problems::new(CODES);
        let found = read(text, &mut problems);
        match (found, problems.into_errors().into_iter().next()) {
            (Some(found), None) => Ok(found),
            (_, Some(error)) => {
                let line = LineIndex::new(text).line(error.primary.span.start);
                Err(LockError { line, message: error.message })
            }
            (None, None) => {
                Err(LockError { line: 1, message: "an entry is not complete".to_owned() })
            }
        }
    }
}

fn read(text: &str, problems: &mut Problems) -> Option<Acceptances> {
    let document = toml::document(text, problems)?;
    let top = document.as_table();
    toml::unknown(top, "the list", &["version", "accepted", "trusted"], problems);
    if top.get("version").and_then(toml_edit::Item::as_integer) != Some(1) {
        let message = "the list is not of version 1";
        problems.error(CODES.value, Span::at(0), message, "write `version = 1`");
        return None;
    }
    let mut found = Acceptances::default();
    let tables = |key: &str| top.get(key).map(|item| item.as_array_of_tables());
    let accepted = match tables("accepted") {
        Some(tables) => tables?.iter().collect(),
        None => Vec::new(),
    };
    for table in accepted {
        let known = ["name", "version", "checksum", "capabilities"];
        toml::unknown(table, "`[[accepted]]`", &known, problems);
        let name = |text: &str| is_accepted_name(text).then(|| text.to_owned());
        let name = toml::parsed(table, "name", "the name of a package", name, problems)?;
        let (version, _) = toml::text(table, "version", problems)?;
        let digest = |text: &str| Digest::parse(text.strip_prefix("sha256:")?);
        let checksum =
            toml::parsed(table, "checksum", "`sha256:` and 64 digits", digest, problems)?;
        let capabilities = capabilities(table, problems);
        found.accepted.insert(Accepted { name, version, checksum, capabilities });
    }
    let trusted = match tables("trusted") {
        Some(tables) => tables?.iter().collect(),
        None => Vec::new(),
    };
    for table in trusted {
        toml::unknown(table, "`[[trusted]]`", &["directory"], problems);
        let (directory, span) = toml::text(table, "directory", problems)?;
        let directory = PathBuf::from(directory);
        if !directory.is_absolute() {
            let message = "a trusted directory is an absolute path";
            problems.error(CODES.value, span, message, "write the whole path");
        }
        found.trusted.insert(directory);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Acceptances {
        let accepted = Accepted {
            name: "acme/house".to_owned(),
            version: "1.0.0".to_owned(),
            checksum: Digest([7; 32]),
            capabilities: ["shell", "clock"].into_iter().map(|it| it.parse().unwrap()).collect(),
        };
        Acceptances { accepted: [accepted].into(), trusted: [PathBuf::from("/srv/plugins")].into() }
    }

    #[test]
    fn what_was_accepted_is_read_as_it_was_written() {
        assert_eq!(Acceptances::parse(&example().write()).unwrap(), example());
    }

    #[test]
    fn another_checksum_or_one_more_capability_is_not_accepted() {
        let found = example();
        let set = |all: &[&str]| all.iter().map(|it| it.parse().unwrap()).collect::<BTreeSet<_>>();
        assert!(found.accepts("acme/house", &Digest([7; 32]), &set(&["shell"])));
        assert!(found.accepts("acme/house", &Digest([7; 32]), &set(&[])));
        assert!(!found.accepts("acme/house", &Digest([8; 32]), &set(&["shell"])));
        assert!(!found.accepts("acme/other", &Digest([7; 32]), &set(&["shell"])));
        assert!(!found.accepts("acme/house", &Digest([7; 32]), &set(&["secrets"])));
    }

    #[test]
    fn only_what_is_below_a_marked_directory_is_trusted() {
        let found = example();
        assert!(
            found.trusts(Path::new("/srv/plugins")) && found.trusts(Path::new("/srv/plugins/a/b"))
        );
        assert!(
            !found.trusts(Path::new("/srv")) && !found.trusts(Path::new("/srv/plugins-of-others"))
        );
    }

    #[test]
    fn a_list_that_is_not_understood_accepts_nothing() {
        let fine = example().write();
        for text in [
            fine.replace("version = 1\n", "version = 2\n"),
            fine.replace("sha256:", "md5:"),
            fine.replace("\"/srv", "\"srv"),
            fine.replace("[[accepted]]", "[[allowed]]"),
            fine.replace("name = \"acme/house\"\n", ""),
        ] {
            assert!(Acceptances::parse(&text).is_err(), "{text}");
        }
    }
}
