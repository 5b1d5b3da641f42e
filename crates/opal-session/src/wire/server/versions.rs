//! Helpers of other versions of opal, in the cache of a target.
//!
//! Each version of opal sends a helper of its own. One that is used says so by the time of its file, once a
//! day. After a new one was sent, those that were not used lately are removed. A process whose program
//! is removed goes on; a version that comes back sends its helper again.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};

/// As the script that stores them names them.
const NAME: &str = "opal-target-";
const UNFINISHED: &str = ".new-";

/// Others that stay in any case: the ones that were used last.
const KEPT: usize = 4;

/// Who was used since then may be about to be started.
const RECENTLY: Duration = Duration::from_hours(24);

/// Entries that are read at most: there is little else in the directory.
const MOST: usize = 1_000;

/// Notes that this program is used, and, where it has just been sent, removes what has not been for long.
pub(super) fn tidy(is_new: bool) {
    let Ok(own) = fs::read_link("/proc/self/exe") else { return };
    let Some(directory) = own.parent().filter(|it| it.ends_with(".cache/opal")) else { return };
    if !is_helper(&own) {
        return;
    }
    let now = crate::clock::now();
    if is_new {
        remove_old(directory, &own, now);
    } else if fs::metadata(&own).is_ok_and(|it| is_old(&it, now)) {
        let at = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
        let used = Timestamps { last_access: at(UTIME_OMIT), last_modification: at(UTIME_NOW) };
        // A file of root in the home of another user stays as it is.
        let _ = utimensat(CWD, &own, &used, AtFlags::SYMLINK_NOFOLLOW);
    }
}

fn remove_old(directory: &Path, own: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut helpers: Vec<(SystemTime, PathBuf)> = Vec::new();
    for path in entries.take(MOST).filter_map(|entry| Some(entry.ok()?.path())) {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !found.is_file() || path == own {
            continue;
        }
        if is_helper(&path) {
            helpers.push((found.modified().unwrap_or(now), path));
        } else if name.starts_with(UNFINISHED) && is_old(&found, now) {
            let _ = fs::remove_file(path);
        }
    }
    helpers.sort();
    let too_many = helpers.len().saturating_sub(KEPT);
    for (used, path) in helpers.into_iter().take(too_many) {
        if now.duration_since(used).is_ok_and(|ago| ago > RECENTLY) {
            let _ = fs::remove_file(path);
        }
    }
}

fn is_helper(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digest = name.strip_prefix(NAME);
    digest.is_some_and(|it| it.len() == 64 && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_old(found: &Metadata, now: SystemTime) -> bool {
    let changed = found.modified().ok();
    changed.and_then(|at| now.duration_since(at).ok()).is_some_and(|ago| ago > RECENTLY)
}
