//! All files below a directory, and which of them are as they were.
//!
//! Each directory is opened and listed once, and each file that counts is asked for its times once,
//! from the descriptor of its directory. Only what has changed is handed on to be read. Where there
//! is much to do, further threads take directories from the one that has too many.

mod shared;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use opal_core::inventory::{Item, ItemKind, Known, Stamp, Which};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};

use super::ignored::Rules;
use super::listing::Listing;
use super::pattern::{Patterns, below};
use super::{InventoryError, Result, name_of, nanos, unreadable};
use crate::stop::{Order, Stop};
use shared::Shared;

/// So many names are seen to by one thread alone: another one takes time to begin.
const ALONE: usize = 500;

const MAX_THREADS: usize = 4;

/// Up to this depth a directory is opened from the descriptor of the one above it.
const MAX_OPEN_DEPTH: usize = 32;

/// What is walked, and for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk<'a> {
    /// Where it is, without symlinks.
    pub(super) real: &'a Path,
    /// By which path it is known.
    pub(super) shown: &'a Path,
    pub(super) base: &'a Path,
    pub(super) project: &'a Path,
    pub(super) patterns: &'a Patterns,
    pub(super) except: &'a Patterns,
    pub(super) which: Which,
    pub(super) known: Option<Known<'a>>,
    pub(super) stop: &'a Stop,
    /// How many files there may be.
    pub(super) room: usize,
}

/// What is there.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files that are as they were.
    pub(super) unchanged: Vec<(Box<str>, Item)>,
    /// What has to be read: where it is, and by which path it is known.
    pub(super) others: Vec<(PathBuf, PathBuf)>,
    /// All that was walked, where files are watched.
    pub(super) directories: Vec<PathBuf>,
}

/// A directory that is to be read.
#[derive(Debug)]
struct Job {
    /// The directory above it, and its name there.
    from: Option<(Arc<OwnedFd>, CString)>,
    real: PathBuf,
    /// Where that is another path.
    shown: Option<PathBuf>,
    /// Those of the directories above it.
    rules: Option<Arc<Rules>>,
    depth: usize,
}

impl Walk<'_> {
    pub(super) fn found(&self) -> Result<Found> {
        let shared = Shared::new();
        thread::scope(|scope| {
            let mut first = Worker::new(self, &shared);
            first.jobs.push(self.first());
            let mut others = Vec::new();
            let mut help = || {
                let threads = thread::available_parallelism().map_or(1, usize::from);
                for _ in 1..threads.min(MAX_THREADS) {
                    shared.join();
                    others.push(scope.spawn(|| Worker::new(self, &shared).work(&mut || {})));
                }
            };
            let ended = first.work(&mut help);
            others.into_iter().fold(ended, |found, other| {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let (mut found, other) = (found?, other?);
                found.add(other);
                Ok(found)
            })
        })
    }

    fn first(&self) -> Job {
        Job {
            from: None,
            real: self.real.to_owned(),
            shown: (self.real != self.shown).then(|| self.shown.to_owned()),
            rules: (self.which != Which::Outputs).then(|| Rules::above(self.real)),
            depth: 0,
        }
    }
}

impl Found {
    fn add(&mut self, mut other: Self) {
        self.unchanged.append(&mut other.unchanged);
        self.others.append(&mut other.others);
        self.directories.append(&mut other.directories);
    }
}

/// One thread.
struct Worker<'a> {
    walk: &'a Walk<'a>,
    shared: &'a Shared<Job>,
    jobs: Vec<Job>,
    found: Found,
    listing: Listing,
    seen: usize,
}

impl<'a> Worker<'a> {
    fn new(walk: &'a Walk<'a>, shared: &'a Shared<Job>) -> Self {
        let (jobs, found, listing) = (Vec::new(), Found::default(), Listing::default());
        Self { walk, shared, jobs, found, listing, seen: 0 }
    }

    /// Until nothing is left; asks for help once, where there is much.
    fn work(mut self, help: &mut dyn FnMut()) -> Result<Found> {
        let mut is_alone = true;
        while !self.shared.has_ended()
            && let Some(job) = self.jobs.pop().or_else(|| self.shared.next())
        {
            self.directory(&job)?;
            if is_alone && self.seen > ALONE && self.jobs.len() > 1 {
                is_alone = false;
                help();
            }
            self.shared.share(&mut self.jobs);
        }
        Ok(std::mem::take(&mut self.found))
    }

    fn directory(&mut self, job: &Job) -> Result<()> {
        if self.walk.stop.order() != Order::GoOn {
            return Err(InventoryError::Stopped);
        }
        let mut listing = std::mem::take(&mut self.listing);
        let opened = job.open().and_then(|directory| {
            listing.read(&directory)?;
            Ok(directory)
        });
        let result = match opened {
            Ok(directory) => self.entries(job, directory, &listing),
            Err(_) if self.walk.which == Which::Watched => Ok(()),
            // Not there any more, or a file: nothing is below it.
            Err(error) if is_gone(&error) => Ok(()),
            Err(error) => {
                let shown = job.shown.as_deref().unwrap_or(&job.real);
                let name = name_of(shown, self.walk.base);
                Err(unreadable(&name.unwrap_or_else(|_| shown.display().to_string()), &error))
            }
        };
        self.listing = listing;
        result
    }

    fn entries(&mut self, job: &Job, directory: OwnedFd, listing: &Listing) -> Result<()> {
        if self.walk.which == Which::Watched {
            self.found.directories.push(job.real.clone());
        }
        let rules = job.rules.as_ref().map(|rules| match listing.has.contains(&true) {
            true => rules.below(&job.real, listing.has),
            false => Arc::clone(rules),
        });
        let directory = Arc::new(directory);
        let mut real = job.real.clone();
        let mut shown = job.shown.clone();
        for (name, kind) in listing.iter().filter(|(name, _)| *name != c".git") {
            let text = OsStr::from_bytes(name.to_bytes());
            real.push(text);
            if let Some(shown) = &mut shown {
                shown.push(text);
            }
            let entry = Entry {
                directory: &directory,
                name,
                kind,
                real: &real,
                shown: shown.as_deref(),
                rules: rules.as_ref(),
            };
            self.entry(&entry, job.depth)?;
            real.pop();
            if let Some(shown) = &mut shown {
                shown.pop();
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>, depth: usize) -> Result<()> {
        self.seen += 1;
        let walk = self.walk;
        let Some(kind) = entry.kind() else { return Ok(()) };
        let is_directory = kind == FileType::Directory;
        let is_ignored = entry.rules.is_some_and(|rules| rules.ignore(entry.real, is_directory));
        if is_ignored || walk.except.whole.iter().any(|path| path == entry.real) {
            return Ok(());
        }
        if is_directory {
            let is_deep = depth >= MAX_OPEN_DEPTH;
            self.jobs.push(Job {
                from: (!is_deep).then(|| (Arc::clone(entry.directory), entry.name.to_owned())),
                real: entry.real.to_owned(),
                shown: entry.shown.map(Path::to_owned),
                rules: entry.rules.cloned(),
                depth: depth + 1,
            });
            return Ok(());
        }
        let shown = entry.shown.unwrap_or(entry.real);
        let relative = below(shown, walk.project).unwrap_or(shown);
        let is_link = kind == FileType::Symlink;
        let is_special = !is_link && kind != FileType::RegularFile;
        if walk.except.match_file(relative) || walk.which == Which::Watched && is_special {
            return Ok(());
        }
        // A directory that a symlink leads to may have files that match.
        if !(walk.patterns.match_file(relative) || is_link && entry.real.is_dir()) {
            return Ok(());
        }
        if self.shared.count() > walk.room {
            return Err(InventoryError::TooMany);
        }
        match self.unchanged(entry, kind, shown) {
            Some(unchanged) => self.found.unchanged.push(unchanged),
            None => self.found.others.push((entry.real.to_owned(), shown.to_owned())),
        }
        Ok(())
    }

    /// A file that is as it was.
    fn unchanged(
        &self,
        entry: &Entry<'_>,
        kind: FileType,
        shown: &Path,
    ) -> Option<(Box<str>, Item)> {
        let known = self.walk.known.filter(|_| kind == FileType::RegularFile)?;
        let name = below(shown, self.walk.base)?.to_str()?;
        let found = entry.stat()?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        let item = known.unchanged(name, item_kind(&found), &stamp(&found)).filter(|_| is_file)?;
        Some((name.into(), item))
    }
}

/// However one thread ends, the others do not wait for it.
impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.shared.end();
    }
}

/// One name in a directory.
struct Entry<'a> {
    directory: &'a Arc<OwnedFd>,
    name: &'a CStr,
    kind: FileType,
    real: &'a Path,
    shown: Option<&'a Path>,
    rules: Option<&'a Arc<Rules>>,
}

impl Entry<'_> {
    fn stat(&self) -> Option<Stat> {
        rustix::fs::statat(&**self.directory, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Some file systems do not say it in the list; none where it is gone meanwhile.
    fn kind(&self) -> Option<FileType> {
        match self.kind {
            FileType::Unknown => Some(FileType::from_raw_mode(self.stat()?.st_mode)),
            kind => Some(kind),
        }
    }
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory, to list it.
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())?)
}

impl Job {
    fn open(&self) -> io::Result<OwnedFd> {
        match &self.from {
            Some((above, name)) => {
                Ok(rustix::fs::openat(&**above, name.as_c_str(), DIRECTORY, Mode::empty())?)
            }
            None => open(&self.real),
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn item_kind(found: &Stat) -> ItemKind {
    match found.st_mode & 0o111 != 0 {
        true => ItemKind::Executable,
        false => ItemKind::File,
    }
}

fn stamp(found: &Stat) -> Stamp {
    Stamp {
        inode: found.st_ino,
        bytes: u64::try_from(found.st_size).unwrap_or_default(),
        modified: nanos(found.st_mtime, i64::try_from(found.st_mtime_nsec).unwrap_or_default()),
        changed: nanos(found.st_ctime, i64::try_from(found.st_ctime_nsec).unwrap_or_default()),
    }
}
