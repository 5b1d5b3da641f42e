//! Removing what killed processes have left under temporary names.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{LINK, LOCKED, PREFIX};

/// So many entries of a directory are read.
const MAX_ENTRIES: usize = 100_000;

/// So many directories are remembered.
const MAX_SWEPT: usize = 4096;

const DIGITS: usize = 16;

/// Links cannot be locked, and versions before the lock took none: those are removed after a day.
const UNLOCKED_SECONDS: u64 = 24 * 60 * 60;

/// The directories that this process has swept: to read one for every file that is written into it
/// would take too long.
static SWEPT: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// Whether a name is a temporary one, of this version or an earlier one.
#[must_use]
pub fn is_temporary(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
    let digits = rest.strip_suffix(LOCKED).or(rest.strip_suffix(LINK)).unwrap_or(rest);
    digits.len() == DIGITS && digits.bytes().all(|c| c.is_ascii_hexdigit())
}

/// Sweeps a directory, once in the life of this process.
pub(super) fn once(parent: &OwnedFd) {
    let Ok(found) = rustix::fs::fstat(parent) else { return };
    #[allow(clippy::useless_conversion, reason = "the width differs between systems")]
    let directory = (u64::from(found.st_dev), u64::from(found.st_ino));
    {
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.len() == MAX_SWEPT {
            swept.clear();
        }
        if !swept.insert(directory) {
            return;
        }
    }
    sweep(parent);
}

/// Whatever cannot be read or removed stays: the write itself says what is wrong.
pub(super) fn sweep(parent: &OwnedFd) {
    // What was opened without permission to read has to be opened again.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(parent, ".", flags, Mode::empty());
    let Ok(entries) = opened.and_then(Dir::new) else { return };
    for entry in entries.take(MAX_ENTRIES).map_while(Result::ok) {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if is_temporary(name) {
            let _ = remove(parent, name);
        }
    }
}

fn remove(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let found = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    // Held until the name is gone.
    let _lock = match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink if is_old(&found) => None,
        // A link has changed places with this one, which is about to be removed.
        FileType::RegularFile if ends(name, LINK) => return Ok(()),
        FileType::RegularFile if ends(name, LOCKED) || is_old(&found) => {
            Some(lock(parent, name, &found)?)
        }
        _ => return Ok(()),
    };
    rustix::fs::unlinkat(parent, name, AtFlags::empty())
}

/// Locks the very file that was found; fails where its writer lives.
fn lock(parent: &OwnedFd, name: &OsStr, found: &Stat) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let same = |it: &Stat| (it.st_dev, it.st_ino) == (found.st_dev, found.st_ino);
    // Its writer may have renamed it and let go of it meanwhile.
    let now = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match same(&rustix::fs::fstat(&file)?) && same(&now) {
        true => Ok(file),
        false => Err(Errno::STALE),
    }
}

fn ends(name: &OsStr, end: &str) -> bool {
    name.as_bytes().ends_with(end.as_bytes())
}

#[expect(clippy::disallowed_methods, reason = "files are dated by the clock of the system")]
fn is_old(found: &Stat) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    u64::try_from(found.st_mtime).is_ok_and(|it| it.saturating_add(UNLOCKED_SECONDS) < now)
}
