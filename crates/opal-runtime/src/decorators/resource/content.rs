//! Files that a resource reads and replaces as a whole.

use std::io::Write;
use std::path::Path;

use opal_core::files::{Attributes, Entry, EntryKind, Files};
use opal_core::resolver::{Probe, Trouble, TroubleKind};
use zeroize::Zeroizing;

use super::paths;
use crate::world::wiped;

/// Bytes of a file that is held in memory.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// What a resource may replace: a file, or nothing.
pub(super) fn replaceable(probe: &dyn Probe, path: &Path) -> Result<Option<Entry>, Trouble> {
    let Some(entry) = probe.look(path)? else { return Ok(None) };
    match entry.kind {
        EntryKind::File => Ok(Some(entry)),
        EntryKind::Link => Err(paths::is_link(path, probe)),
        kind => Err(Trouble::new(
            TroubleKind::Invalid,
            format!("`{}` is {} and no file", path.display(), kind.name()),
            "name another place, or move it away",
        )),
    }
}

/// All that a file holds; trouble where that is more than [`MAX_BYTES`].
pub(super) fn read(probe: &dyn Probe, path: &Path) -> Result<Zeroizing<Vec<u8>>, Trouble> {
    let bytes = wiped::read(&mut *probe.read(path)?, MAX_BYTES + 1).map_err(|error| {
        let message = format!("`{}` cannot be read: {}", path.display(), error.kind());
        Trouble::new(TroubleKind::Failed, message, "try it by hand, with `cat`")
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("`{}` has more than {} MiB", path.display(), MAX_BYTES >> 20);
        return Err(Trouble::new(TroubleKind::TooLarge, message, "let a command deal with it"));
    }
    Ok(bytes)
}

/// Puts a file with these bytes in its place, in one move.
pub(super) fn write(
    files: &dyn Files,
    path: &Path,
    attributes: &Attributes,
    bytes: &[u8],
) -> Result<(), Trouble> {
    let mut pending = files.write(path, attributes)?;
    pending.write_all(bytes).map_err(|error| {
        let message = format!("`{}` cannot be written: {}", path.display(), error.kind());
        Trouble::new(TroubleKind::Failed, message, "see whether the disk is full")
    })?;
    pending.keep()
}
