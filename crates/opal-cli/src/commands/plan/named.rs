//! Contracts that are named by their file, or by their id in the inbox, with what people said about them.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use opal_core::contract::approval::Approval;
use opal_core::hash::{Algorithm, Digest};
use opal_core::message;
use opal_files::regular;
use opal_trust::approvals::{self, MAX_FILE_BYTES};
use opal_vault::root::Root;
use rustix::fs::OFlags;

use super::file::read_file;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::view;

/// Under the runtime root.
pub(crate) const INBOX: &str = "inbox";

/// What a contract is called in its directory of the inbox.
pub(crate) const CONTRACT: &str = "contract.plan";

/// Digits of an id, and how many of them suffice.
pub(super) const ID_DIGITS: usize = 32;
const MIN_DIGITS: usize = 8;

/// The file of a contract, read once.
pub(crate) struct Named {
    /// As people know it: as it was typed, or the id.
    pub(crate) shown: PathBuf,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl Named {
    /// An id of the inbox, or a file. The contract that was submitted is meant, whatever a project calls its
    /// files: `./1234abcd` is such a file.
    pub(crate) fn find(
        context: &Context<'_>,
        root: Option<&PathBuf>,
        text: &str,
    ) -> Result<Self, Failure> {
        let shown = PathBuf::from(text);
        let is_id = (MIN_DIGITS..=ID_DIGITS).contains(&text.len()) && text.bytes().all(is_digit);
        let is_submitted = || {
            let root = context.root(root);
            root.is_some_and(|root| ids(&root).iter().any(|id| id.starts_with(text)))
        };
        // All digits of an id never name a file.
        let is_file = text.len() < ID_DIGITS && shown.exists();
        if !is_id || is_file && !is_submitted() {
            let bytes = read_file(&shown)?;
            return Ok(Self { path: shown.clone(), shown, bytes });
        }
        let root = context.needed_root(root)?;
        let path = in_inbox(&root, text)?.join(CONTRACT);
        let bytes = read_file(&path)?;
        let named = Self { shown, path, bytes };
        if !named.id().hex().starts_with(text) {
            let message =
                format!("the contract {text} of the inbox has changed since it was submitted");
            return Err(Failure::new(
                Exit::Refused,
                message,
                "submit it again: `opal plan submit FILE`",
            ));
        }
        Ok(named)
    }

    /// What the ledger knows it by.
    pub(crate) fn id(&self) -> Digest {
        Algorithm::Sha256.digest(&[&self.bytes])
    }

    /// What people said about it. Lines that are none are named and count for nothing.
    pub(crate) fn approvals(&self) -> Result<Vec<Approval>, Failure> {
        let path = self.approvals_path();
        let (found, broken) = approvals::read(&read(&path)?);
        if let Some((line, why)) = broken.first() {
            let others = match broken.len() - 1 {
                0 => String::new(),
                others => format!(" (and {})", message::counted(others, "other line")),
            };
            view::plan::note(&format!("{}:{line}: {why}{others}", path.display()));
        }
        Ok(found)
    }

    /// Of the file of what people said about it, as an order has it; none where there is none.
    pub(crate) fn approvals_digest(&self) -> Result<Option<Digest>, Failure> {
        let text = read(&self.approvals_path())?;
        Ok((!text.is_empty()).then(|| Algorithm::Sha256.digest(&[text.as_bytes()])))
    }

    /// Adds a line. When this returns, it is on the disk.
    pub(crate) fn add(&self, approval: &Approval) -> Result<PathBuf, Failure> {
        let path = self.approvals_path();
        let mut line = approval.to_line();
        // A file that somebody edited may lack its last line feed.
        if read(&path)?.chars().next_back().is_some_and(|last| last != '\n') {
            line.insert(0, '\n');
        }
        // Nothing that somebody put there leads to another file.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o644).custom_flags(flags);
        let opened = options.open(&path);
        let written = opened.and_then(|mut file| {
            file.write_all(line.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|error| Failure::unwritable(&format!("`{}`", path.display()), &error))?;
        Ok(path)
    }

    fn approvals_path(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".approvals");
        PathBuf::from(path)
    }
}

/// The directory of the one contract whose id begins so.
fn in_inbox(root: &Root, text: &str) -> Result<PathBuf, Failure> {
    let found: Vec<PathBuf> = ids(root)
        .into_iter()
        .filter(|id| id.starts_with(text))
        .map(|id| root.path().join(INBOX).join(id))
        .collect();
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => {
            let message = format!("there is no contract {text} in the inbox");
            Err(Failure::new(Exit::NoFile, message, "list them with `opal plan inbox`"))
        }
        _ => {
            let message = format!("several contracts of the inbox begin with {text}");
            Err(Failure::usage(message, "type more digits; `opal plan inbox` lists them"))
        }
    }
}

/// The ids of all contracts in the inbox, in order.
pub(crate) fn ids(root: &Root) -> Vec<String> {
    let Ok(folder) = root.guarded(INBOX) else { return Vec::new() };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut ids: Vec<String> =
        names.filter(|name| name.len() == ID_DIGITS && name.bytes().all(is_digit)).collect();
    ids.sort_unstable();
    ids
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error: &std::io::Error| Failure::unreadable(path, error);
    let file = match regular::open_given(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!("`{}` is longer than {MAX_FILE_BYTES} bytes", path.display());
        return Err(Failure::new(
            Exit::Source,
            message,
            "keep only the lines of this contract in it",
        ));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
