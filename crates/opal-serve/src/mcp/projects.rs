//! Which projects an agent may name, and which contracts and runs belong to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opal_core::Value;
use opal_core::contract::MAX_BYTES;
use opal_core::hash::Algorithm;
use opal_trust::contracts::peek;
use opal_trust::policy::McpRules;
use opal_vault::record::reader::Run;
use opal_vault::root::{self, Root};

use super::refusal::Refusal;

/// The source of a project.
const SOURCE: &str = "commands.opl";

/// Under the runtime root.
const INBOX: &str = "inbox";
const CONTRACT: &str = "contract.plan";
const ID_DIGITS: usize = 32;

#[derive(Debug)]
pub(super) struct Projects {
    /// Without links.
    open: Vec<PathBuf>,
    here: PathBuf,
}

/// A contract of the inbox.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) id: String,
    pub(super) path: PathBuf,
    pub(super) project: PathBuf,
    pub(super) target: String,
    pub(super) arguments: BTreeMap<String, Value>,
    pub(super) created: i64,
}

impl Projects {
    /// Those that the policy lists, or the one in which it starts.
    pub(super) fn new(rules: &McpRules) -> std::io::Result<Self> {
        let here = std::env::current_dir()?.canonicalize()?;
        let open = match &rules.projects {
            // One that is not there now is nobody's.
            Some(listed) => listed.iter().filter_map(|it| it.canonicalize().ok()).collect(),
            None => vec![here.clone()],
        };
        Ok(Self { open, here })
    }

    /// The directory that is meant.
    pub(super) fn choose(&self, given: Option<&str>) -> Result<&Path, Refusal> {
        let found = match (given, &self.open[..]) {
            (Some(given), open) => {
                let meant = Path::new(given).canonicalize().ok();
                let found = open.iter().find(|it| meant.as_ref() == Some(it));
                found.ok_or_else(|| Refusal::OtherProject(self.open.clone()))?
            }
            (None, [one]) => one,
            (None, open) => {
                let here = open.iter().find(|it| **it == self.here);
                here.ok_or_else(|| Refusal::WhichProject(self.open.clone()))?
            }
        };
        // Otherwise opal would look for one in the directories above.
        match found.join(SOURCE).canonicalize() {
            Ok(source) if !source.is_file() => Err(Refusal::NoSource),
            // Messages about a source quote it, and no tool reads files.
            Ok(source) if !source.starts_with(found) => Err(Refusal::SourceElsewhere),
            Ok(_) => Ok(found),
            Err(_) => Err(Refusal::NoSource),
        }
    }

    /// Any of them, for what belongs to none.
    pub(super) fn any(&self) -> &Path {
        self.open.first().unwrap_or(&self.here)
    }

    /// The project that a file or a directory is in.
    fn of(&self, path: &str) -> Option<&Path> {
        let path = Path::new(path);
        let whole = path.canonicalize().ok();
        let path = whole.as_deref().unwrap_or(path);
        self.open.iter().map(PathBuf::as_path).find(|project| path.starts_with(project))
    }

    /// The contracts of these projects in the inbox, the newest first.
    pub(super) fn submitted(&self, root: &Root) -> Vec<Submitted> {
        let mut all: Vec<Submitted> =
            (ids(root).into_iter()).filter_map(|id| self.read(root, id).ok().flatten()).collect();
        all.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
        all
    }

    /// The contract of an id, or of its first digits.
    pub(super) fn contract(&self, root: &Root, digits: &str) -> Result<Submitted, Refusal> {
        let mut found = ids(root).into_iter().filter(|id| id.starts_with(digits));
        let id = found.next().ok_or(Refusal::NoContract)?;
        if found.next().is_some() {
            return Err(Refusal::SeveralContracts);
        }
        self.read(root, id)?.ok_or(Refusal::NoContract)
    }

    /// A contract; none where it is of another project.
    fn read(&self, root: &Root, id: String) -> Result<Option<Submitted>, Refusal> {
        let path = root.path().join(INBOX).join(&id).join(CONTRACT);
        let bytes =
            root::read_guarded(&path, MAX_BYTES as u64 + 1).map_err(|_| Refusal::Changed)?;
        if !Algorithm::Sha256.digest(&[&bytes]).hex().starts_with(&id) {
            return Err(Refusal::Changed);
        }
        let contract = peek(&bytes).map_err(|_| Refusal::Changed)?;
        let source = contract.provenance().source.as_ref().map(|it| it.absolute.as_str());
        let Some(project) = source.and_then(|it| self.of(it)).map(Path::to_owned) else {
            return Ok(None);
        };
        let (target, created) = (&contract.plan().target, contract.created());
        let (target, arguments) = (target.name.clone(), target.arguments.clone());
        Ok(Some(Submitted { id, path, project, target, arguments, created }))
    }

    /// Whether a run is of one of these projects: it began in one, or ran a contract of one.
    pub(super) fn has(&self, root: &Root, run: &Run) -> bool {
        let began = run.text("directory").is_some_and(|it| self.of(it).is_some());
        let of_contract = || {
            let id = run.contract().map(|it| it.hex()[..ID_DIGITS].to_owned());
            id.is_some_and(|id| self.read(root, id).ok().flatten().is_some())
        };
        began || of_contract()
    }
}

fn ids(root: &Root) -> Vec<String> {
    let Ok(folder) = root.guarded(INBOX) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    names.filter(|name| name.len() == ID_DIGITS && name.bytes().all(is_digit)).collect()
}
