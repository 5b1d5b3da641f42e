//! Patterns as they are written, and where the files that they match can be.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::InventoryError;
use crate::world::os::files;

type Result<T> = std::result::Result<T, InventoryError>;

const MAX_PATTERN_BYTES: usize = 4096;

/// What a part of a path has that is more than a name.
const WILD: [char; 6] = ['*', '?', '[', ']', '{', '\\'];

/// All patterns of one inventory.
#[derive(Debug)]
pub(super) struct Patterns {
    /// Matches paths seen from the project.
    set: GlobSet,
    /// Directories of which every file matches, seen from the project.
    all_below: Vec<PathBuf>,
    /// Directories that hold all that can match; none is below another.
    pub(super) roots: Vec<PathBuf>,
    /// What is named without wildcards and is not a directory.
    pub(super) files: Vec<PathBuf>,
    /// What is named without wildcards, whatever it is.
    pub(super) whole: Vec<PathBuf>,
}

impl Patterns {
    pub(super) fn read(
        texts: &[&str],
        base: &Path,
        home: Option<&Path>,
        project: &Path,
    ) -> Result<Self> {
        let mut set = GlobSetBuilder::new();
        let (mut roots, mut files, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        let mut all_below = Vec::new();
        for text in texts {
            let (root, wild) = split(text, base, home)?;
            if !root.starts_with(project) {
                let project = project.display().to_string();
                return Err(InventoryError::Outside { name: (*text).to_owned(), project });
            }
            if wild.is_none() {
                whole.push(root.clone());
            }
            let is_file = wild.is_none()
                && root.symlink_metadata().is_ok_and(|found| !found.is_dir())
                && !root.is_dir();
            if is_file {
                files.push(root);
                continue;
            }
            let below = root.strip_prefix(project).unwrap_or(&root);
            if wild.as_deref().is_none_or(|wild| wild == "**") {
                all_below.push(below.to_owned());
            }
            let below = below.to_str().ok_or_else(|| wrong(text))?;
            let slash = if below.is_empty() { "" } else { "/" };
            let glob =
                format!("{}{slash}{}", globset::escape(below), wild.as_deref().unwrap_or("**"));
            let glob =
                GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
            set.add(glob.map_err(|_| wrong(text))?);
            roots.push(root);
        }
        roots.sort();
        // After a directory, all that is below it follows.
        roots.dedup_by(|next, kept| next.starts_with(&*kept));
        let set = set.build().map_err(|_| wrong(&texts.join(", ")))?;
        Ok(Self { set, all_below, roots, files, whole })
    }

    /// Whether a file matches, seen from the project.
    pub(super) fn match_file(&self, relative: &Path) -> bool {
        self.all_below.iter().any(|directory| below(relative, directory).is_some())
            || self.set.is_match(relative)
    }

    /// Whether a whole path is one of what they name, or below it.
    pub(super) fn hold(&self, path: &Path, project: &Path) -> bool {
        let relative = path.strip_prefix(project).unwrap_or(path);
        self.whole.iter().any(|whole| path.starts_with(whole)) || self.match_file(relative)
    }
}

/// The directory before the first wildcard, and the rest.
fn split(text: &str, base: &Path, home: Option<&Path>) -> Result<(PathBuf, Option<String>)> {
    if text.is_empty() || text.len() > MAX_PATTERN_BYTES || text.contains('\0') {
        return Err(wrong(text));
    }
    let parts: Vec<&str> = text.split('/').collect();
    let plain = parts.iter().take_while(|part| !part.contains(WILD)).count();
    let (plain, wild) = parts.split_at(plain);
    if wild.iter().any(|part| matches!(*part, ".." | ".")) {
        return Err(wrong(text));
    }
    let plain = match plain {
        // It begins with a slash.
        [""] => "/".to_owned(),
        plain => plain.join("/"),
    };
    let place = files::place(base, home, &plain).map_err(|_| wrong(text))?;
    let wild = wild.join("/");
    Ok((normal(&place), (!wild.is_empty()).then_some(wild)))
}

fn wrong(text: &str) -> InventoryError {
    InventoryError::Pattern(text.to_owned())
}

/// Without `.` and `..`, as the text says it.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// The rest of a path below a directory. Both are written without `.`, `..` and spare slashes, so
/// that it is enough to compare bytes: for thousands of files, [`Path::strip_prefix`] takes long.
pub(super) fn below<'p>(path: &'p Path, directory: &Path) -> Option<&'p Path> {
    let directory = directory.as_os_str().as_bytes();
    let rest = path.as_os_str().as_bytes().strip_prefix(directory)?;
    let rest = match directory {
        [] | [.., b'/'] => rest,
        _ => rest.strip_prefix(b"/")?,
    };
    Some(Path::new(OsStr::from_bytes(rest)))
}

/// A path seen from a directory, both absolute.
pub(super) fn seen_from(directory: &Path, path: &Path) -> PathBuf {
    let mut up = PathBuf::new();
    for above in directory.ancestors() {
        if let Ok(below) = path.strip_prefix(above) {
            return up.join(below);
        }
        up.push("..");
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_directory_and_what_is_asked_of_the_names_below_it() {
        let base = Path::new("/p/app");
        let read = |text| split(text, base, Some(Path::new("/home/me")));
        for (text, root, wild) in [
            ("src/**/*.rs", "/p/app/src", Some("**/*.rs")),
            ("./src//a.c", "/p/app/src/a.c", None),
            ("*.c", "/p/app", Some("*.c")),
            ("../lib/**", "/p/lib", Some("**")),
            ("/p/x/[ab]", "/p/x", Some("[ab]")),
            ("~/x", "/home/me/x", None),
            ("dist/", "/p/app/dist", None),
        ] {
            let (found, rest) = read(text).unwrap();
            assert_eq!((found.to_str(), rest.as_deref()), (Some(root), wild), "{text}");
        }
        for text in ["", "a/*/../b", "a\0", "*/./b"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_below_a_directory_is_found_by_its_bytes() {
        for (path, directory) in [
            ("/p/a", "/p"),
            ("/p/a/b", "/p/a"),
            ("/p/ab", "/p/a"),
            ("/p", "/p"),
            ("/p/a", "/"),
            ("a/b", ""),
            ("a/b", "a"),
            ("ab", "a"),
        ] {
            let (path, directory) = (Path::new(path), Path::new(directory));
            let rest = path.strip_prefix(directory).ok().filter(|rest| *rest != Path::new(""));
            assert_eq!(below(path, directory), rest, "{path:?} {directory:?}");
        }
    }

    #[test]
    fn directories_below_others_are_not_walked_twice() {
        let (base, project) = (Path::new("/p/a"), Path::new("/p"));
        let patterns = Patterns::read(&["src/x/*", "src/*", "../lib/**"], base, None, project);
        let patterns = patterns.unwrap();
        assert_eq!(patterns.roots, [Path::new("/p/a/src"), Path::new("/p/lib")]);
        let matches = |path| patterns.match_file(Path::new(path));
        assert!(matches("a/src/x/y") && matches("lib/q/r"));
        assert!(!matches("a/src/y/z") && !matches("library/q"));
    }
}
