//! Files that a resource reads and replaces as a whole.

use std::io::Write;
use std::path::{Path, PathBuf};

use opal_core::action::Pending;
use opal_core::files::{Attributes, EntryKind, Existing, Files};
use opal_core::message::Reason;
use opal_core::resolver::{Links, Probe, Trouble, TroubleKind};
use opal_core::tree::{Found, Part};
use opal_core::wiped::Wiped;

use super::paths;
use opal_core::wiped;

/// Bytes of a file that is held in memory.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// What a resource may replace: a file, or nothing.
pub(super) fn replaceable(
    probe: &dyn Probe,
    path: &Path,
    digest_up_to: Option<u64>,
) -> Result<Option<Found>, Trouble> {
    let part = Part { path: PathBuf::new(), digest_up_to };
    let Some(found) = probe.parts(path, &[part])?.pop().flatten() else {
        return paths::check_creatable(path, probe).map(|()| None);
    };
    match found.entry.kind {
        EntryKind::File => Ok(Some(found)),
        EntryKind::Link => Err(paths::is_link(path, probe)),
        kind => Err(Trouble::new(
            TroubleKind::Invalid,
            format!("`{}` is {}, not a file", path.display(), kind.name()),
            "name another place, or move it away",
        )),
    }
}

/// All that a file holds; trouble where that is more than [`MAX_BYTES`].
pub(super) fn read(
    probe: &dyn Probe,
    path: &Path,
    links: Links<'_>,
) -> Result<Wiped<Vec<u8>>, Trouble> {
    let too_large = || {
        let message = format!("`{}` is larger than {} MiB", path.display(), MAX_BYTES >> 20);
        Trouble::new(TroubleKind::TooLarge, message, "use a command for it")
    };
    if matches!(probe.stat(path), Ok(Some(entry)) if entry.bytes > MAX_BYTES) {
        return Err(too_large());
    }
    let bytes = wiped::read(&mut *probe.read(path, links)?, MAX_BYTES + 1).map_err(|error| {
        let message = format!("`{}` cannot be read: {}", path.display(), Reason(error.kind()));
        Trouble::new(TroubleKind::Failed, message, "try to read it with `cat`")
    })?;
    if bytes.len() as u64 > MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// Puts a file with these bytes in its place, in one move.
pub(super) fn write(
    files: &dyn Files,
    path: &Path,
    attributes: &Attributes,
    existing: Existing,
    bytes: &[u8],
) -> Result<(), Trouble> {
    keep(files.write(path, attributes, existing)?, path, bytes)
}

/// Keeps what was begun at a path, with these bytes.
pub(super) fn keep(
    mut pending: Box<dyn Pending>,
    path: &Path,
    bytes: &[u8],
) -> Result<(), Trouble> {
    pending.write_all(bytes).map_err(|error| {
        let message = format!("`{}` cannot be written: {}", path.display(), Reason(error.kind()));
        Trouble::new(TroubleKind::Failed, message, "check whether the disk is full")
    })?;
    pending.keep()
}

#[cfg(test)]
mod tests {
    use super::*;
    use opal_testing::{Asked, MemoryWorld};

    #[test]
    fn what_says_that_it_is_too_large_is_not_read() {
        let world = MemoryWorld::default().file("/x", vec![b'x'; (MAX_BYTES + 1) as usize]);
        let trouble = read(&world, Path::new("/x"), Links::Followed).unwrap_err();
        assert_eq!(trouble.message, "`/x` is larger than 64 MiB");
        assert!(!world.asked().iter().any(|it| matches!(it, Asked::Read(_))));
    }
}
