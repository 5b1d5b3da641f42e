//! Files that are checked again and again, and when to check them.
//!
//! A change of a time is not a change: what counts is the content. Directories that git ignores are
//! never watched, so a large `target` or `node_modules` takes no watches. Where the system has no
//! watches left, whoever waits checks from time to time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, UNIX_EPOCH};

use notify::event::EventKind;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use opal_core::gather;
use opal_core::inventory::{Inventory, Known, Wanted, Which};
use opal_core::resolver::Trouble;

use crate::noted::Places;
use crate::stop::Stop;
use crate::world::{Scene, files_at};

/// How often files are checked where nobody tells of changes.
const POLL: Duration = Duration::from_millis(500);

/// The times of files are those of the last tick of the system's clock, which is so long at most.
const TICK_NANOS: i64 = 10_000_000;

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Where relative patterns begin.
    pub base: &'a Path,
    pub home: Option<&'a Path>,
    /// Without symlinks.
    pub project: &'a Path,
    pub patterns: &'a [&'a str],
    /// What does not count, whatever the patterns say.
    pub except: &'a [&'a str],
    /// Paths that count too, wherever they are.
    pub places: &'a Places,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub files: Inventory,
    /// Where files can appear.
    pub directories: BTreeSet<PathBuf>,
    /// When: nanoseconds of Unix time.
    pub at: i64,
}

/// A file that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub name: Box<str>,
    /// When it was written; none where it is gone.
    pub at: Option<i64>,
}

/// Nanoseconds of Unix time.
#[must_use]
pub fn now() -> i64 {
    let since = crate::clock::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Reads all files. What has not changed since an earlier snapshot is not read again.
pub fn snapshot(
    field: &Field<'_>,
    before: Option<&Snapshot>,
    stop: &Stop,
) -> Result<Snapshot, Trouble> {
    let at = now();
    let &Field { base, home, project, patterns, except, places } = field;
    let known = before.map(|before| Known { files: &before.files, at: before.at });
    let wanted = Wanted { patterns, except, which: Which::Watched, known };
    let scene = Scene { places: Some(places), ..Scene::new(base, home, Some(project), stop) };
    let (files, directories) = files_at(&scene, &wanted)?;
    Ok(Snapshot { files, directories, at })
}

impl Snapshot {
    /// The same for a field with other patterns or places. Seen at one later time, the old field is
    /// `old` and the new one is `new`.
    ///
    /// Nobody knows what was in a file that only the new field has. It counts as unchanged, except
    /// for the returned ones, which were written since: they are not in this snapshot.
    #[must_use]
    pub fn moved(mut self, old: &Self, new: Self) -> (Self, Inventory) {
        self.files.retain(|name, _| new.files.contains_key(name) || !old.files.contains_key(name));
        let added = new.files.into_iter().filter(|(name, _)| !old.files.contains_key(name));
        let (late, added): (Inventory, Inventory) =
            added.partition(|(_, item)| item.stamp.changed >= self.at - TICK_NANOS);
        self.files.extend(added);
        (Self { directories: new.directories, ..self }, late)
    }

    /// The files that have another content or mode, or are new or gone, by their names.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (name, now) in &later.files {
            if self.files.get(name).is_none_or(|then| !then.is_same(now)) {
                changes.push(Change { name: name.clone(), at: Some(now.stamp.changed) });
            }
        }
        let gone = self.files.keys().filter(|name| !later.files.contains_key(*name));
        changes.extend(gone.map(|name| Change { name: name.clone(), at: None }));
        gather::sort_by(&mut changes, |one, other| one.name.cmp(&other.name));
        changes
    }
}

/// Tells that something has happened in one of the directories that it follows.
#[derive(Debug)]
pub struct Watcher {
    /// None where the system has no watches left.
    system: Option<RecommendedWatcher>,
    stirred: Receiver<()>,
    followed: BTreeSet<PathBuf>,
}

impl Watcher {
    #[must_use]
    pub fn new() -> Self {
        // One message says all: many events in a row are one.
        let (tell, stirred) = sync_channel(1);
        let system = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Being read is not being changed, and an error may be an event that was lost.
            let is_read = event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_)));
            if !is_read {
                let _ = tell.try_send(());
            }
        });
        Self { system: system.ok(), stirred, followed: BTreeSet::new() }
    }

    /// Follows exactly these directories; whether there are new ones among them, in which something
    /// may have happened before.
    pub fn follow(&mut self, directories: &BTreeSet<PathBuf>) -> bool {
        let Some(system) = &mut self.system else { return false };
        for gone in self.followed.difference(directories) {
            let _ = system.unwatch(gone);
        }
        let new: Vec<&PathBuf> = directories.difference(&self.followed).collect();
        let is_new = !new.is_empty();
        let mut is_full = false;
        for directory in new {
            is_full |= match system.watch(directory, RecursiveMode::NonRecursive) {
                Ok(()) => false,
                // One that is gone meanwhile is in no later snapshot.
                Err(error) => match error.kind {
                    notify::ErrorKind::PathNotFound => false,
                    notify::ErrorKind::Io(error) => error.kind() != std::io::ErrorKind::NotFound,
                    _ => true,
                },
            };
        }
        self.followed.clone_from(directories);
        if is_full {
            self.system = None;
        }
        is_new
    }

    /// Whether nobody tells of changes, so that files are checked from time to time.
    #[must_use]
    pub fn polls(&self) -> bool {
        self.system.is_none()
    }

    /// Whether it is time to check the files, within so long.
    #[must_use]
    pub fn stirs(&self, within: Duration) -> bool {
        match self.stirred.recv_timeout(within) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(within.min(POLL));
                false
            }
        }
    }

    /// How often files are checked where nobody tells of changes.
    #[must_use]
    pub fn pause(&self) -> Option<Duration> {
        self.polls().then_some(POLL)
    }
}

impl Default for Watcher {
    fn default() -> Self {
        Self::new()
    }
}
