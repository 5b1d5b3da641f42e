//! How many records stay.
//!
//! Of direct runs the newest of each target, and as many rounds of `opal watch`. Records of contracts, refused ones among them, are
//! counted nowhere: only their age makes them go. A run that is still going on stays in any case.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{CONTRACT, ROUND, RunId, UNFINISHED, pruned, reader};
use crate::root::{Root, RootError};

/// Runs of a target that stay where nobody says otherwise.
pub const KEPT_RUNS: usize = 100;

/// Only when there are more, a run removes old ones: most runs then remove nothing.
pub const MOST_RUNS: usize = KEPT_RUNS + 10;

/// A directory that is being removed begins with it.
const REMOVED: &str = ".old-";

/// What may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The newest direct runs and rounds of each target that stay, whatever their age.
    pub keep: usize,
    /// Only runs that sort before this one go.
    pub before: Option<RunId>,
}

/// Removes old runs of every target and says which, the newest first. With `dry_run` they stay.
pub fn prune(root: &Root, policy: &Policy, dry_run: bool) -> Result<Vec<RunId>, RootError> {
    let mut gone = Vec::new();
    for target in reader::target_folders(root)? {
        let of = |error| RootError::of(&target, error);
        let holding = Holding::of(&target).map_err(of)?;
        let going = holding.superfluous(policy);
        if !dry_run {
            going.iter().try_for_each(|id| remove(&target, id)).map_err(of)?;
            holding.clear();
        }
        gone.extend(going);
    }
    gone.sort_unstable_by(|a, b| b.cmp(a));
    Ok(gone)
}

/// After a run: its record is written, so that trouble here can wait for the next one.
pub(super) fn after_run(target: &Path) {
    if !may_hold_more_than(target, MOST_RUNS) {
        return;
    }
    if let Ok(holding) = Holding::of(target)
        && holding.runs.len() > MOST_RUNS
    {
        for id in holding.superfluous(&Policy { keep: KEPT_RUNS, before: None }) {
            let _ = remove(target, &id);
        }
        holding.clear();
    }
}

/// Most file systems count the directories in a directory among its links, and those that do not
/// say 1. So most runs need not list anything.
fn may_hold_more_than(target: &Path, count: usize) -> bool {
    let links = fs::metadata(target).map_or(1, |metadata| metadata.nlink());
    links < 2 || links - 2 > count as u64
}

/// What is in the folder of a target.
struct Holding<'t> {
    target: &'t Path,
    /// The newest first.
    runs: Vec<RunId>,
    /// What is being made or removed, or was, by a process that was killed.
    unfinished: Vec<String>,
}

impl<'t> Holding<'t> {
    fn of(target: &'t Path) -> io::Result<Self> {
        let (mut runs, mut unfinished) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(target)? {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            match name.parse() {
                Ok(id) => runs.push(id),
                Err(_) => unfinished.push(name),
            }
        }
        runs.sort_unstable_by(|a: &RunId, b| b.cmp(a));
        Ok(Self { target, runs, unfinished })
    }

    fn superfluous(&self, policy: &Policy) -> Vec<RunId> {
        let folder = |id: &RunId| self.target.join(id.as_str());
        let is_contract = |id: &&RunId| folder(id).join(CONTRACT).exists();
        let (contracts, direct): (Vec<&RunId>, Vec<&RunId>) =
            self.runs.iter().partition(is_contract);
        let is_round = |id: &&RunId| folder(id).join(ROUND).exists();
        let (rounds, direct): (Vec<&RunId>, Vec<&RunId>) = direct.into_iter().partition(is_round);
        let is_old = |id: &&RunId| policy.before.as_ref().is_none_or(|before| *id < before);
        let contracts = contracts.into_iter().filter(|_| policy.before.is_some());
        let direct = direct.into_iter().skip(policy.keep);
        let rounds = rounds.into_iter().skip(policy.keep);
        let mut old: Vec<&RunId> = direct.chain(rounds).chain(contracts).collect();
        old.retain(is_old);
        old.retain(|id| !reader::is_going_on(&folder(id)));
        old.sort_unstable_by(|a, b| b.cmp(a));
        old.into_iter().cloned().collect()
    }

    /// Removes what was left half removed, and what was left half made: older than every run that
    /// there was, so that nobody can be at it.
    fn clear(&self) {
        for name in &self.unfinished {
            let made = name.strip_prefix(UNFINISHED).and_then(|id| id.parse::<RunId>().ok());
            let is_over = made.is_some_and(|id| self.runs.last().is_some_and(|last| id < *last));
            let folder = self.target.join(name);
            if name.starts_with(REMOVED) || is_over && !reader::is_going_on(&folder) {
                // Another process may be removing it as well.
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}

/// Renamed first, so that nobody ever reads half a record. A line about it stays.
fn remove(target: &Path, id: &RunId) -> io::Result<()> {
    pruned::keep(target, id)?;
    let removed = target.join(format!("{REMOVED}{id}"));
    match fs::rename(target.join(id.as_str()), &removed) {
        // Another process was quicker.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        renamed => renamed.and_then(|()| fs::remove_dir_all(removed)),
    }
}
