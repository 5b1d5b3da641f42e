//! Where journals are: `~/.local/state/opal`, a directory that only this user enters.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use opal_core::journal::end_of;
use opal_files::trusted;
use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::{disk, system};
use crate::error::JournalError;

/// Below the home directory.
const PARTS: [&str; 3] = [".local", "state", "opal"];

/// Journals stay so long after the end of their orders, in seconds.
const KEPT: i64 = 24 * 60 * 60;

/// Journals of one user on one machine: an order has 10,000 targets at most, which may all be here.
const MAX_JOURNALS: usize = 20_000;

/// Entries of the directory that are read.
const MAX_ENTRIES: usize = 100_000;

const PRIVATE: u32 = 0o600;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

const JOURNAL: OFlags = OFlags::RDWR
    .union(OFlags::APPEND)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// The directory, held open.
pub(super) struct Place {
    held: OwnedFd,
    path: PathBuf,
}

impl Place {
    /// Made where it is missing. No part of it is a link, or somebody else's.
    pub(super) fn find(home: Option<&Path>) -> Result<Self, JournalError> {
        let home = home.filter(|home| home.is_absolute()).ok_or(JournalError::NoHome)?;
        let usual = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(CWD, home, usual, Mode::empty());
        let mut held = opened.map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => JournalError::NoHome,
            error => refused(error),
        })?;
        let mut path = home.to_owned();
        trust(&path, &held)?;
        for part in PARTS {
            path.push(part);
            held = match rustix::fs::openat(&held, part, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) => made(&held, part)?,
                found => found.map_err(|error| linked(&path, error))?,
            };
            trust(&path, &held)?;
        }
        let found = rustix::fs::fstat(&held).map_err(refused)?;
        if found.st_uid != rustix::process::geteuid().as_raw() {
            return Err(untrusted(&path, "belongs to another user"));
        }
        if found.st_mode & 0o077 != 0 {
            return Err(untrusted(&path, "can be entered by other users"));
        }
        disk::check(&held)?;
        Ok(Self { held, path })
    }

    /// The journal with this name; none where there is none.
    pub(super) fn open(&self, name: &str) -> Result<Option<File>, JournalError> {
        let path = self.path.join(name);
        let file = match rustix::fs::openat(&self.held, name, JOURNAL, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(linked(&path, error)),
        };
        let found = rustix::fs::fstat(&file).map_err(refused)?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !is_file || found.st_nlink > 1 {
            return Err(untrusted(&path, "is not a file with one name"));
        }
        if found.st_uid != rustix::process::geteuid().as_raw() {
            return Err(untrusted(&path, "belongs to another user"));
        }
        if found.st_mode & 0o077 != 0 {
            return Err(untrusted(&path, "is open to other users"));
        }
        disk::check(&file)?;
        // Whoever has made it may have been ended before its name was on the disk.
        rustix::fs::fsync(&self.held).map_err(|error| system("opened")(error.into()))?;
        Ok(Some(file.into()))
    }

    /// How many journals there are.
    pub(super) fn count(&self) -> usize {
        self.names().filter(|name| end_of(name).is_some()).count()
    }

    /// A new journal besides so many others, which is in the directory also after a crash; none where there
    /// is one by now.
    pub(super) fn make(&self, name: &str, others: usize) -> Result<Option<File>, JournalError> {
        if others >= MAX_JOURNALS {
            return Err(JournalError::TooMany(MAX_JOURNALS));
        }
        let flags = JOURNAL | OFlags::CREATE | OFlags::EXCL;
        let file = match rustix::fs::openat(&self.held, name, flags, Mode::from_raw_mode(PRIVATE)) {
            Ok(file) => File::from(file),
            Err(Errno::EXIST) => return Ok(None),
            Err(error) => return Err(system("created")(error.into())),
        };
        let synced = file.sync_all().and_then(|()| Ok(rustix::fs::fsync(&self.held)?));
        synced.map_err(system("created"))?;
        Ok(Some(file))
    }

    /// Whether a file still has its name.
    pub(super) fn has(&self, name: &str, file: &File) -> Result<bool, JournalError> {
        let own = rustix::fs::fstat(file).map_err(refused)?;
        match rustix::fs::statat(&self.held, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok((found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(refused(error)),
        }
    }

    /// Removes the journals of orders that have ended for long, by the clock of the runner. One that is
    /// locked is in use, and stays.
    pub(super) fn tidy(&self, now: i64) {
        let is_old = |name: &str| end_of(name).is_some_and(|end| end.saturating_add(KEPT) < now);
        for name in self.names().filter(|name| is_old(name)) {
            let Ok(Some(file)) = self.open(&name) else { continue };
            let is_free =
                rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_free && self.has(&name, &file).is_ok_and(|has| has) {
                // The next one who comes tries again.
                let _ = rustix::fs::unlinkat(&self.held, &name, AtFlags::empty());
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let entries = Dir::read_from(&self.held).into_iter().flatten().take(MAX_ENTRIES);
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_owned()));
        names.filter_map(|name| name.into_string().ok())
    }
}

fn made(within: &OwnedFd, name: &str) -> Result<OwnedFd, JournalError> {
    let done = || {
        match rustix::fs::mkdirat(within, name, Mode::RWXU) {
            // Another session was quicker.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        rustix::fs::fsync(within)?;
        rustix::fs::openat(within, name, FOLDER, Mode::empty())
    };
    done().map_err(|error: Errno| system("created")(error.into()))
}

fn trust(path: &Path, held: &OwnedFd) -> Result<(), JournalError> {
    trusted::check_held(path, held).map_err(|why| JournalError::Untrusted(why.to_string()))
}

/// What cannot be opened without following a link.
fn linked(path: &Path, error: Errno) -> JournalError {
    match error {
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => {
            untrusted(path, "is a link or something else")
        }
        error => system("opened")(error.into()),
    }
}

fn untrusted(path: &Path, why: &str) -> JournalError {
    JournalError::Untrusted(format!("`{}` {why}", path.display()))
}

fn refused(error: Errno) -> JournalError {
    system("examined")(io::Error::from(error))
}
