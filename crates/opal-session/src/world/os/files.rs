//! Files, by the paths that sources write.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use opal_core::resolver::Trouble;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use crate::error::PathError;
use opal_files::regular;

/// Between two looks another process may have put a pipe there.
const GENTLY: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// A directory that may be entered and not listed will do, where the system can say so.
#[cfg(target_os = "linux")]
const ONLY_THERE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_THERE: OFlags = OFlags::RDONLY;

/// Opens a regular file, with the name that messages have for it.
pub(super) fn open(place: &Path, path: &str) -> Result<File, Trouble> {
    regular::open(place).map_err(|error| match fs::metadata(place) {
        Ok(found) if !found.is_file() => irregular(path, found.mode()),
        _ => trouble(path, &error),
    })
}

/// The same, and follows no link from `top` on, which is a directory above the place.
pub(super) fn open_below(top: &Path, place: &Path, path: &str) -> Result<File, Trouble> {
    let failed = |error: rustix::io::Errno| trouble(path, &error.into());
    let rest = place.strip_prefix(top).unwrap_or(place);
    let (Some(above), Some(name)) = (rest.parent(), rest.components().next_back()) else {
        return Err(trouble(path, &io::ErrorKind::IsADirectory.into()));
    };
    let directory = OFlags::DIRECTORY | OFlags::CLOEXEC | ONLY_THERE;
    let mut at: OwnedFd = rustix::fs::openat(CWD, top, directory, Mode::empty()).map_err(failed)?;
    for part in above.components() {
        let flags = directory | OFlags::NOFOLLOW;
        at = rustix::fs::openat(&at, part.as_os_str(), flags, Mode::empty()).map_err(failed)?;
    }
    let name = name.as_os_str();
    let found = rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(irregular(path, found.st_mode));
    }
    let flags = GENTLY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&at, name, flags, Mode::empty()).map_err(failed)?;
    let opened = rustix::fs::fstat(&file).map_err(failed)?.st_mode;
    if FileType::from_raw_mode(opened) != FileType::RegularFile {
        return Err(irregular(path, opened));
    }
    Ok(file.into())
}

/// A path as it is written, whole.
pub(crate) fn place(base: &Path, home: Option<&Path>, path: &str) -> Result<PathBuf, Trouble> {
    let rest = match path {
        "~" => Some(""),
        _ => path.strip_prefix("~/"),
    };
    let Some(rest) = rest else {
        if path.starts_with('~') {
            return Err(PathError::HomeOfAnother { path: path.to_owned() }.into());
        }
        return Ok(base.join(path));
    };
    let home = home.ok_or_else(|| PathError::NoHome { path: path.to_owned() })?;
    Ok(home.join(rest.trim_start_matches('/')))
}

fn irregular(path: &str, mode: u32) -> Trouble {
    let found = regular::kind(FileType::from_raw_mode(mode));
    PathError::Irregular { path: path.to_owned(), found }.into()
}

fn trouble(path: &str, error: &io::Error) -> Trouble {
    PathError::Open { path: path.to_owned(), why: error.kind() }.into()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_to_the_top_and_not_from_there_on() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("real/sub")).unwrap();
        fs::write(at("real/sub/f"), "content").unwrap();
        for (to, name) in [("real", "top"), ("sub", "real/way"), ("f", "real/sub/link")] {
            symlink(to, at(name)).unwrap();
        }
        for (name, words) in [
            ("top/sub/f", ""),
            ("top/sub/../sub/f", ""),
            ("top/sub/link", "is a symlink, not a file"),
            ("top/way/f", "does not exist"),
            ("top/sub", "is a directory, not a file"),
            ("top/none", "does not exist"),
            ("top", "cannot be opened"),
        ] {
            match open_below(&at("top"), &at(name), name) {
                Ok(mut file) => {
                    let mut content = String::new();
                    file.read_to_string(&mut content).unwrap();
                    assert_eq!((content.as_str(), words), ("content", ""), "{name}");
                }
                Err(trouble) => {
                    assert!(!words.is_empty() && trouble.message.contains(words), "{trouble:?}");
                }
            }
        }
    }
}
