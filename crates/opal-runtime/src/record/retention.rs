//! How many records stay.
//!
//! The newest of each target. A run that is still going on stays, whatever its age. What goes is
//! renamed first, so that nobody ever reads half a record.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{RunId, UNFINISHED, reader};
use crate::root::{Root, RootError};

/// Runs of a target that stay where nobody says otherwise.
pub const KEPT_RUNS: usize = 100;

/// A directory that is being removed begins with it.
const REMOVED: &str = ".old-";

/// What may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The newest runs of each target that stay, whatever their age.
    pub keep: usize,
    /// Only runs that sort before this one go.
    pub before: Option<RunId>,
}

/// Removes old runs of every target and says which, the newest first. With `dry_run` they stay.
pub fn prune(root: &Root, policy: &Policy, dry_run: bool) -> Result<Vec<RunId>, RootError> {
    let mut gone = Vec::new();
    for target in reader::target_folders(root)? {
        let of = |error| RootError::of(&target, error);
        let going = superfluous(&target, policy).map_err(of)?;
        for (id, folder) in going {
            if !dry_run {
                remove(&target, &folder, &id).map_err(|error| RootError::of(&folder, error))?;
            }
            gone.push(id);
        }
        if !dry_run {
            clear(&target).map_err(of)?;
        }
    }
    gone.sort_unstable_by(|a, b| b.cmp(a));
    Ok(gone)
}

/// After a run: its record is written, so that trouble here can wait for the next one.
pub(super) fn after_run(target: &Path) {
    if !may_hold_more_than(target, KEPT_RUNS) {
        return;
    }
    let policy = Policy { keep: KEPT_RUNS, before: None };
    for (id, folder) in superfluous(target, &policy).unwrap_or_default() {
        let _ = remove(target, &folder, &id);
    }
    let _ = clear(target);
}

/// Most file systems count the directories in a directory among its links, and those that do not
/// say 1. So most runs need not list anything.
fn may_hold_more_than(target: &Path, count: usize) -> bool {
    let links = fs::metadata(target).map_or(1, |metadata| metadata.nlink());
    links < 2 || links - 2 > count as u64
}

fn superfluous(target: &Path, policy: &Policy) -> io::Result<Vec<(RunId, PathBuf)>> {
    let mut runs = reader::run_folders(target)?;
    runs.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
    let old = runs.into_iter().skip(policy.keep);
    let old = old.filter(|(id, _)| policy.before.as_ref().is_none_or(|before| id < before));
    Ok(old.filter(|(_, folder)| !reader::is_going_on(folder)).collect())
}

fn remove(target: &Path, folder: &Path, id: &RunId) -> io::Result<()> {
    let removed = target.join(format!("{REMOVED}{id}"));
    fs::rename(folder, &removed)?;
    fs::remove_dir_all(removed)
}

/// Removes what a process that was killed has left half made or half removed: what is older than
/// every run that is there, so that nobody can be at it.
fn clear(target: &Path) -> io::Result<()> {
    let oldest = reader::run_folders(target)?.into_iter().map(|(id, _)| id).min();
    for entry in fs::read_dir(target)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let made = name.strip_prefix(UNFINISHED).and_then(|id| id.parse::<RunId>().ok());
        let is_over = made.is_some_and(|id| oldest.as_ref().is_some_and(|oldest| id < *oldest));
        if name.starts_with(REMOVED) || is_over && !reader::is_going_on(&entry.path()) {
            // Another process may be removing it as well.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}
