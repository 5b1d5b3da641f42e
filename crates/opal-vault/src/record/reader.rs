//! Reading records, including those of a killed process.
//!
//! | what | where |
//! |---|---|
//! | which runs there are, and which one is meant | here |
//! | what happened, line by line | [`Events`], in `events` |
//! | what earlier runs of a contract left | [`earlier_runs`] |
//! | how a run went | [`Run`], in `run` |
//! | the same as flat documents, for databases | [`rows`] |
//! | its steps, by target and then in their order | [`Step`], in `steps`; all that happened to them [`replay`] |
//! | what its plugins opened and did not close, and acted on | [`unclosed`], [`objects`] |
//! | how the targets of its fleets ended | [`tables`], in `fleets` |
//! | what they printed | [`Outputs`], in `printed`; while it grows [`Following`], in `tail` |

mod earlier_runs;
mod events;
mod fleets;
mod objects;
mod printed;
mod replay;
mod rows;
mod run;
mod steps;
mod tail;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RawDir};

use super::{EVENTS, FOLDER, RunId, SUMMARY};
use crate::root::{Root, RootError, Why};
use opal_files::regular;

pub use crate::error::{Unread, Unreadable};
pub use earlier_runs::earlier;
pub use events::Events;
pub use fleets::tables;
pub use objects::{objects, unclosed};
pub use printed::{Outputs, Printed};
pub use replay::replay;
pub(super) use rows::run_row;
pub use rows::{Row, Rows, rows};
pub use run::{FailedPath, Run, State, failed_path};
pub use steps::{Finish, Step, StepVerification, steps};
pub use tail::Following;

/// A record, not yet looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub id: RunId,
    pub folder: PathBuf,
}

impl Found {
    /// In the directory of its target.
    #[must_use]
    pub fn within(target: &Path, id: RunId) -> Self {
        let folder = target.join(id.as_str());
        Self { id, folder }
    }
}

/// Why a name does not say which run is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    NoRuns,
    Unknown,
    /// Some of those that it could be, the newest first, and how many there are.
    Ambiguous(Vec<RunId>, usize),
}

/// Every run, the newest first.
pub fn list(root: &Root) -> Result<Vec<Found>, RootError> {
    let mut all = Vec::new();
    for target in target_folders(root)? {
        all.extend(runs_in(&target)?);
    }
    all.sort_unstable_by(|a, b| b.id.cmp(&a.id).then_with(|| a.folder.cmp(&b.folder)));
    Ok(all)
}

/// The run that is called `name`: `last`, an id, or the beginning of one or of its last part.
pub fn find<'r>(runs: &'r [Found], name: &str) -> Result<&'r Found, Unclear> {
    const MOST_NAMED: usize = 5;
    let newest = runs.first().ok_or(Unclear::NoRuns)?;
    if name == "last" {
        return Ok(newest);
    }
    let is_meant = |found: &&Found| {
        let id = found.id.as_str();
        let time = id.strip_prefix("run-").unwrap_or(id);
        let random = id.rsplit('-').next().unwrap_or(id);
        !name.is_empty() && [id, time, random].iter().any(|part| part.starts_with(name))
    };
    let meant: Vec<&Found> = runs.iter().filter(is_meant).collect();
    match meant[..] {
        [] => Err(Unclear::Unknown),
        [one] => Ok(one),
        [..] => {
            let some = meant.iter().take(MOST_NAMED).map(|found| found.id.clone());
            Err(Unclear::Ambiguous(some.collect(), meant.len()))
        }
    }
}

/// One for each target that has run; none where nothing has.
pub fn target_folders(root: &Root) -> Result<Vec<PathBuf>, RootError> {
    let folder = match root.guarded(FOLDER) {
        Err(RootError { why: Why::Missing, .. }) => return Ok(Vec::new()),
        found => found?,
    };
    let targets = folders(&folder).map_err(|error| RootError::of(&folder, error))?;
    Ok(targets.into_iter().map(|(_, path)| path).collect())
}

/// The runs of one target, in no order.
fn runs_in(target: &Path) -> Result<Vec<Found>, RootError> {
    Ok(ids_in(target)?.into_iter().map(|id| Found::within(target, id)).collect())
}

/// The same by their names alone: there may be very many.
pub fn ids_in(target: &Path) -> Result<Vec<RunId>, RootError> {
    let ids = || -> io::Result<Vec<RunId>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(target, flags, Mode::empty())?;
        let mut buffer = Vec::with_capacity(DIRECTORY_BYTES);
        let mut entries = RawDir::new(&folder, buffer.spare_capacity_mut());
        let mut ids = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let Some(id) = entry.file_name().to_str().ok().and_then(|name| name.parse().ok())
            else {
                continue;
            };
            let kind = match entry.file_type() {
                // Not every file system says it here.
                FileType::Unknown => {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    let found = rustix::fs::statat(&folder, entry.file_name(), flags)?;
                    FileType::from_raw_mode(found.st_mode)
                }
                kind => kind,
            };
            if kind == FileType::Directory {
                ids.push(id);
            }
        }
        Ok(ids)
    };
    ids().map_err(|error| RootError::of(target, error))
}

/// Of a directory that is read at once.
const DIRECTORY_BYTES: usize = 128 * 1024;

fn folders(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

/// Whether a process is still writing the record.
pub(super) fn is_going_on(folder: &Path) -> bool {
    if folder.join(SUMMARY).exists() {
        return false;
    }
    let Ok(events) = regular::open(&folder.join(EVENTS)) else { return false };
    let lock = rustix::fs::flock(&events, FlockOperation::NonBlockingLockShared);
    lock == Err(rustix::io::Errno::WOULDBLOCK)
}
