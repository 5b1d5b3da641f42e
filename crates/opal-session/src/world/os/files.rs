//! Files, by the paths that sources write.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use opal_core::resolver::Trouble;
use rustix::fs::FileType;

use crate::error::PathError;
use opal_files::{beneath, regular};

/// Opens a regular file, with the name that messages have for it.
pub(super) fn open(place: &Path, path: &str) -> Result<File, Trouble> {
    regular::open(place).map_err(|error| match fs::metadata(place) {
        Ok(found) if !found.is_file() => irregular(path, found.mode()),
        _ => trouble(path, &error),
    })
}

/// The same, and follows no link from `top` on, which is a directory above the place.
pub(super) fn open_below(top: &Path, place: &Path, path: &str) -> Result<File, Trouble> {
    let rest = place.strip_prefix(top).unwrap_or(place);
    let opened = beneath::directory(top).and_then(|top| beneath::open(top, rest));
    opened.map(|opened| opened.file).map_err(|error| match regular::irregular(&error) {
        Some(found) => PathError::Irregular { path: path.to_owned(), found }.into(),
        None if error.kind() == io::ErrorKind::IsADirectory && !rest.as_os_str().is_empty() => {
            PathError::Irregular { path: path.to_owned(), found: "a directory" }.into()
        }
        None => trouble(path, &error),
    })
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
