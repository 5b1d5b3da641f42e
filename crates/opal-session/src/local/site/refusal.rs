//! What is said when a file cannot be changed: what, where, why, and what to do.

use std::path::Path;

use opal_core::files::EntryKind;
use opal_core::resolver::{Trouble, TroubleKind};
use rustix::io::Errno;

/// `done` says what was to happen, as in "cannot be written".
pub(super) fn refused(done: &str, path: &Path, error: Errno) -> Trouble {
    let shown = path.display();
    let (kind, why, help) = match error {
        Errno::ACCESS | Errno::PERM => (
            TroubleKind::Denied,
            "permission denied",
            "see who may write there with `ls -ld`, or run as one who may",
        ),
        Errno::ROFS => (
            TroubleKind::Denied,
            "its file system is read-only",
            "mount it for writing, or choose another place",
        ),
        Errno::NOSPC => {
            (TroubleKind::TooLarge, "the disk is full", "free some space, and run again")
        }
        Errno::DQUOT => {
            (TroubleKind::TooLarge, "the quota is used up", "free some space, and run again")
        }
        Errno::FBIG => (TroubleKind::TooLarge, "it is too large", "see `ulimit -f`"),
        Errno::NAMETOOLONG => {
            (TroubleKind::Invalid, "a name in it is too long", "choose a shorter one")
        }
        Errno::INVAL => (TroubleKind::Invalid, "that is no name", "choose another name"),
        Errno::NOTDIR => (
            TroubleKind::Invalid,
            "a part of its path is not a directory",
            "correct the path, or make room for the directory",
        ),
        Errno::NOENT => return no_directory(done, path),
        Errno::LOOP | Errno::EXIST | Errno::ISDIR => (
            TroubleKind::Failed,
            "something else was put there at the same moment",
            "see who else writes there, and run again",
        ),
        Errno::NOTEMPTY => (
            TroubleKind::Invalid,
            "it is a directory that is not empty",
            "say `recursive=true` to remove it with all that is in it",
        ),
        Errno::BUSY => (
            TroubleKind::Failed,
            "it is in use, or a file system is mounted there",
            "see `findmnt`, and unmount it first",
        ),
        other => {
            let message = format!(
                "`{shown}` cannot be {done}: {}",
                std::io::Error::from_raw_os_error(other.raw_os_error()).kind()
            );
            return Trouble::new(TroubleKind::Failed, message, "see whether the disk is in order");
        }
    };
    Trouble::new(kind, format!("`{shown}` cannot be {done}: {why}"), help)
}

fn no_directory(done: &str, path: &Path) -> Trouble {
    let above = path.parent().unwrap_or(path).display();
    Trouble::new(
        TroubleKind::Missing,
        format!("`{}` cannot be {done}: there is no directory `{above}`", path.display()),
        format!("make it first, for example with `@file.directory(\"{above}\")`"),
    )
}

/// Something stands at the path that is not what it should be.
pub(super) fn in_the_way(done: &str, path: &Path, kind: EntryKind, help: String) -> Trouble {
    let message = format!("`{}` cannot be {done}: it is {}", path.display(), kind.name());
    Trouble::new(TroubleKind::Invalid, message, help)
}
