//! Credentials: which files there are, the variables they set, and every value in them that must not
//! be seen.
//!
//! A credential is one or more files `<root>/credentials/<id>.<form>`, or
//! `<id>.credentials.<form>`. What cannot be read cannot be hidden either, so a file of a credential
//! that a module asks for and that makes no sense stops a run.
//!
//! Tools can read everything below `<root>/credentials` and `<root>/vault`, so all other files there
//! are read too, to hide what is in them. Nobody has asked for these: as much is hidden as can be, and
//! a warning says what is not. One that is encrypted hides itself.

mod leaves;
mod text;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use opal_core::class::HIDDEN_ANYWHERE_FROM;
use opal_core::{Data, Secret};
use opal_vault::Vault;
use opal_vault::root::{RootError, read_private, read_public};

use super::id::is_word;
use super::root::RuntimeRoot;
use super::secrecy::{HIDDEN, is_plain_key, is_secret_key, parts};
use leaves::{Form, Leaf};
use walk::Walk;

const MOST_BYTES: u64 = 1 << 20;
const MOST_FILES: usize = 1000;

/// What is known of the credentials that a module asks for.
#[derive(Default)]
pub struct Credentials {
    folder: PathBuf,
    /// By identifier, in the order of names; an identifier without any is missing.
    pub files: BTreeMap<String, Vec<PathBuf>>,
    /// What each of them gives a value.
    assigned: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Which of these files cannot be used, and why. No run may begin with one.
    pub unusable: BTreeMap<PathBuf, Unusable>,
    /// Which of these files still have to be filled in.
    unfilled: BTreeMap<PathBuf, Unusable>,
    /// What the files of variables set.
    pub environment: BTreeMap<String, Secret>,
    /// To be hidden from everything that is kept or shown.
    pub values: Vec<Hidden>,
    /// What could not be hidden, and why. Names files, never a value.
    pub warnings: Vec<String>,
}

/// A value that must not be seen.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// What it is called in its file; empty where it has no name.
    pub name: String,
    pub value: Secret,
    /// Its name says that it is one, so that it is hidden even if it is short.
    pub is_declared: bool,
}

/// Credentials that cannot be used. Names files and lines, never a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    pub message: String,
    pub help: String,
}

impl Credentials {
    /// Reads the credentials of these names, and hides what is in all others and in the vault.
    pub fn read(root: &RuntimeRoot, names: &[String]) -> Result<Self, Unusable> {
        let folder = root.credentials();
        let present = listed(&folder)?;
        let mut found = Self { folder, ..Self::default() };
        for name in names {
            let files = found.files.entry(name.clone()).or_default();
            let of_name = present.iter().filter(|path| is_of(path, name));
            *files = of_name.cloned().collect();
        }
        let named: BTreeSet<PathBuf> = found.files.values().flatten().cloned().collect();
        let mut empty = Vec::new();
        for path in &named {
            match found.take(path) {
                Ok(true) => {}
                Ok(false) => empty.push(path),
                Err(unusable) => drop(found.unusable.insert(path.clone(), unusable)),
            }
        }
        found.files.values_mut().for_each(|files| files.retain(|path| !empty.contains(&path)));
        for folder in [root.credentials(), root.vault()] {
            let walked = Walk::of(&folder);
            for (path, length) in walked.files.iter().filter(|(path, _)| !named.contains(path)) {
                if let Err(unusable) = found.hide(path, *length) {
                    found
                        .warnings
                        .push(format!("{}, so not all of it is hidden", unusable.message));
                }
            }
            found.warnings.extend(walked.left_out);
        }
        Ok(found)
    }

    /// The identifiers for which there is no file, or none with anything in it.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let missing = self.files.iter().filter(|(_, files)| files.is_empty());
        missing.map(|(name, _)| name.clone()).collect()
    }

    /// Those of these names that no file of a credential gives a value. A file of variables may do so
    /// for Terraform, with `TF_VAR_` before the name.
    #[must_use]
    pub(crate) fn unassigned<'n>(&self, id: &str, names: &'n [String]) -> Vec<&'n str> {
        let files = self.files.get(id).into_iter().flatten();
        let assigned: Vec<_> = files.filter_map(|path| self.assigned.get(path)).collect();
        let is_assigned = |name: &str| assigned.iter().any(|it| it.contains(name));
        let names = names.iter().map(String::as_str);
        names.filter(|name| !is_assigned(name) && !is_assigned(&format!("TF_VAR_{name}"))).collect()
    }

    /// Why the credentials of a name cannot be used.
    #[must_use]
    pub fn fault(&self, name: &str) -> Option<&Unusable> {
        let mut files = self.files.get(name)?.iter();
        files.find_map(|path| self.unusable.get(path))
    }

    /// What the credentials of a name still wait for.
    #[must_use]
    pub fn lack(&self, name: &str) -> Option<&Unusable> {
        let mut files = self.files.get(name)?.iter();
        files.find_map(|path| self.unfilled.get(path))
    }

    /// The variables that tell tools where the files are: `HYOPS_CREDENTIALS_DIR`, and for each file
    /// `HYOPS_<ID>_TFVARS`, `…_ENV_FILE` or `…_JSON_FILE`, the first also `…_CREDENTIALS_FILE`.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, PathBuf> {
        let mut variables =
            BTreeMap::from([("HYOPS_CREDENTIALS_DIR".to_owned(), self.folder.clone())]);
        for (name, files) in &self.files {
            let capital = |c: char| match c {
                c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
                _ => '_',
            };
            let name: String = name.chars().map(capital).collect();
            for path in files {
                let kind = match Form::of(path) {
                    Form::Terraform => Some("TFVARS"),
                    Form::Variables => Some("ENV_FILE"),
                    Form::Json => Some("JSON_FILE"),
                    Form::Yaml | Form::Text => None,
                };
                for kind in ["CREDENTIALS_FILE"].into_iter().chain(kind) {
                    let variable = format!("HYOPS_{name}_{kind}");
                    variables.entry(variable).or_insert_with(|| path.clone());
                }
            }
        }
        variables
    }

    /// Hides all values, from now on.
    pub fn register(&self, vault: &Vault) {
        // What nobody calls a secret may be a word of every day where it is short.
        let is_found = |hidden: &&Hidden| {
            hidden.is_declared || hidden.value.characters() >= HIDDEN_ANYWHERE_FROM
        };
        for hidden in self.values.iter().filter(is_found) {
            vault.register(&Data::Text(hidden.value.clone()), HIDDEN);
        }
    }

    /// Reads a credential; whether anything is in it.
    fn take(&mut self, path: &Path) -> Result<bool, Unusable> {
        let bytes = read_private(path, MOST_BYTES).map_err(Unusable::from)?;
        let text =
            str::from_utf8(&bytes).map_err(|_| Unusable::of(path, "it is not UTF-8 text"))?;
        let form = Form::of(path);
        let leaves = form.leaves(text).map_err(|why| Unusable::of(path, &why))?;
        if form == Form::Variables {
            let set = leaves.iter().map(|leaf| (leaf.name.clone(), leaf.value.clone()));
            self.environment.extend(set);
        }
        if let Some(names) = leaves::open(&leaves) {
            self.unfilled.insert(path.to_owned(), Unusable::unfilled(path, &names));
        }
        let assigned = leaves::assigned(form, text);
        let is_nothing = leaves.is_empty() && assigned.is_empty();
        self.add(leaves);
        self.assigned.insert(path.to_owned(), assigned);
        Ok(!is_nothing)
    }

    /// Hides what is in a file: of one that makes no sense, its lines.
    fn hide(&mut self, path: &Path, length: u64) -> Result<(), Unusable> {
        let bytes = read_public(path, length.min(MOST_BYTES)).map_err(Unusable::from)?;
        // Tools do not print what is not text.
        let Ok(text) = str::from_utf8(&bytes) else { return Ok(()) };
        if is_encrypted(text) {
            return Ok(());
        }
        let leaves = Form::of(path).leaves(text);
        let lines = || Form::Text.leaves(text).unwrap_or_default();
        let (leaves, why) = match leaves {
            Ok(leaves) => (leaves, None),
            Err(why) => (lines(), Some(why)),
        };
        self.add(leaves);
        why.map_or(Ok(()), |why| Err(Unusable::of(path, &why)))
    }

    fn add(&mut self, leaves: Vec<Leaf>) {
        let is_hidden = |leaf: &Leaf| !is_plain_key(&leaf.name, leaf.value.expose());
        let within: Vec<Leaf> = leaves.iter().flat_map(Leaf::within).collect();
        let mut leaves: Vec<Leaf> = leaves.into_iter().chain(within).filter(is_hidden).collect();
        let own = |leaf: &Leaf| parts(leaf.value.expose()).into_iter().map(|it| Leaf::new("", it));
        leaves.extend(leaves.iter().flat_map(own).collect::<Vec<_>>());
        self.values.extend(leaves.into_iter().map(|Leaf { name, value, is_below_secret }| {
            Hidden { is_declared: is_below_secret || is_secret_key(&name), name, value }
        }));
    }
}

/// Counts only.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("files", &self.files.len())
            .field("environment", &self.environment.len())
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}

impl Unusable {
    fn of(path: &Path, why: &str) -> Self {
        Self {
            message: format!("`{}` cannot be used: {why}", path.display()),
            help: "fix it: opal cannot hide the values of a file that it cannot read".to_owned(),
        }
    }

    fn unfilled(path: &Path, names: &str) -> Self {
        Self {
            message: format!("`{}` has no value yet for {names}", path.display()),
            help: "write the value, or remove the line".to_owned(),
        }
    }
}

impl From<RootError> for Unusable {
    fn from(error: RootError) -> Self {
        Self { message: error.to_string(), help: error.help() }
    }
}

/// Whether a file is one of a credential.
fn is_of(path: &Path, name: &str) -> bool {
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let form = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    let form = form.map(|form| form.strip_prefix("credentials.").unwrap_or(form));
    is_word(name) && form.is_some_and(Form::is_known)
}

/// The plain files of a directory, in the order of their names; none where it is missing.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Unusable> {
    let failed = |error: io::Error| Unusable::of(folder, &error.to_string());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            return Err(Unusable::of(folder, &format!("it has more than {MOST_FILES} files")));
        }
    }
    files.sort();
    Ok(files)
}

fn is_encrypted(text: &str) -> bool {
    ["$ANSIBLE_VAULT;", "age-encryption.org/", "-----BEGIN AGE ENCRYPTED", "-----BEGIN PGP MESSAGE"]
        .iter()
        .any(|start| text.starts_with(start))
}
