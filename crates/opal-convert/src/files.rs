//! Other files that a file names: imports, modules, includes.

use std::cell::Cell;
use std::fmt;

use opal_core::text::MAX_SOURCE_BYTES;

/// Reads a file by its path from the directory of the file that is converted. None where there is none.
#[derive(Clone, Copy)]
pub struct Files<'f>(pub &'f dyn Fn(&str) -> Result<Option<String>, String>);

impl fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").finish_non_exhaustive()
    }
}

impl Files<'static> {
    /// Where only one file is known.
    pub const NONE: Self = Self(&|_| Ok(None));
}

/// Files in files, and files of one conversion.
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 64;

/// Where a file is that names others.
#[derive(Clone, Copy)]
pub(crate) struct Folder<'f> {
    files: Files<'f>,
    opened: &'f Cell<usize>,
    depth: usize,
}

/// A file that another one names.
pub(crate) struct Opened {
    /// From the directory of the main file.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl<'f> Folder<'f> {
    pub(crate) fn new(files: Files<'f>, opened: &'f Cell<usize>) -> Self {
        Self { files, opened, depth: 0 }
    }

    /// The same files are read once more.
    pub(crate) fn again(self) -> Self {
        self.opened.set(0);
        self
    }

    /// One level deeper.
    pub(crate) fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// The first of these files that is there; `folder` is that of the file that names them.
    pub(crate) fn open(&self, folder: &str, paths: &[String]) -> Result<Option<Opened>, String> {
        if self.depth >= MAX_DEPTH {
            return Err(format!("files are nested more than {MAX_DEPTH} deep"));
        }
        for path in paths {
            let path = joined(folder, path).ok_or("its path is not below this directory")?;
            if self.opened.replace(self.opened.get() + 1) >= MAX_FILES {
                return Err(format!("there are more than {MAX_FILES} files"));
            }
            let Some(text) = (self.files.0)(&path)? else { continue };
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
            if text.len() > MAX_SOURCE_BYTES || text.contains('\0') {
                return Err("it is not a text of at most 16 MiB".to_owned());
            }
            return Ok(Some(Opened { path, text }));
        }
        Ok(None)
    }
}

/// The directory of a path; empty for that of the main file.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A relative path seen from a directory, without `.` and `..`; none where it leads out.
pub(crate) fn joined(folder: &str, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with(['/', '~']) || path.contains(['\\', '\0', '\n']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_directory() {
        for (folder, path, expected) in [
            ("", "a.just", Some("a.just")),
            ("docs", "./b/../c", Some("docs/c")),
            ("docs", "../x", Some("x")),
            ("", "../x", None),
            ("docs", "/etc/passwd", None),
            ("", "~/x", None),
            ("", "a\nb", None),
        ] {
            assert_eq!(joined(folder, path).as_deref(), expected, "{folder} {path}");
        }
        assert_eq!((folder_of("a/b/c"), folder_of("c")), ("a/b", ""));
    }
}
