//! Where programs are.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where programs are looked for when the environment does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file that a name stands for, as a shell in `directory` finds it: relative to that where `$PATH`
/// or the name is.
#[must_use]
pub fn find(path: Option<&OsStr>, directory: &Path, name: &str) -> Option<PathBuf> {
    let is_there = |place: &PathBuf| is_program(&directory.join(place));
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_there);
    }
    let path = path.unwrap_or(OsStr::new(USUAL_PATH));
    std::env::split_paths(path).map(|place| place.join(name)).find(is_there)
}

/// Whether the system would start it.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
