//! What is never for plugins: where opal keeps keys and records, what decides about plugins, and what is not a
//! file like others.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories of the system that are not files like others.
const SYSTEM: [&str; 4] = ["/etc/opal", "/proc", "/sys", "/dev"];

/// Entries that are read to find out what a directory contains.
const MAX_ENTRIES: usize = 100_000;

/// Places of this machine, without symlinks.
#[derive(Clone, Debug, Default)]
pub struct Reserved(Vec<PathBuf>);

/// Why a program cannot have a whole directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// It has this in it, or is in it.
    Has(PathBuf),
    TooLarge,
}

impl Reserved {
    /// With the runtime root; an empty path where there is none.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        let mut all: Vec<PathBuf> = SYSTEM.iter().map(|it| whole(Path::new(it))).collect();
        if !root.as_os_str().is_empty() {
            let root = whole(root);
            // A user may keep a part of it elsewhere.
            let parts = fs::read_dir(&root).into_iter().flatten().flatten();
            let links = parts.filter(|it| it.file_type().is_ok_and(|it| it.is_symlink()));
            all.extend(links.map(|it| whole(&it.path())));
            all.push(root);
        }
        Self(all)
    }

    /// Whether a path, whole and without symlinks, is never for plugins.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let mut names = SYSTEM.iter().map(Path::new).chain(self.0.iter().map(PathBuf::as_path));
        let mut parts = path.components();
        names.any(|place| path.starts_with(place))
            || parts.any(|it| it.as_os_str() == ".git")
            || decides(path)
    }

    /// Whether a program may have a file or everything below a directory: the kernel takes nothing inside it
    /// away again. The path is whole and without symlinks.
    pub(crate) fn leaves(&self, path: &Path) -> Result<(), Excess> {
        if self.has(path) {
            return Err(Excess::Has(path.to_owned()));
        }
        if let Some(place) = self.0.iter().find(|place| place.starts_with(path)) {
            return Err(Excess::Has(place.clone()));
        }
        let (mut folders, mut left) = (vec![path.to_owned()], MAX_ENTRIES);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                left = left.checked_sub(1).ok_or(Excess::TooLarge)?;
                if entry.file_name() == ".git" || decides(Path::new(&entry.file_name())) {
                    return Err(Excess::Has(entry.path()));
                }
                if entry.file_type().is_ok_and(|it| it.is_dir()) {
                    folders.push(entry.path());
                }
            }
        }
        Ok(())
    }
}

/// Whether a file says what opal runs.
fn decides(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == "opal.mod" || name == "opal.lock" || path.extension().is_some_and(|it| it == "opl")
}

/// An absolute path, without symlinks as far as it is there.
#[must_use]
pub fn whole(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = absolute.ancestors().find_map(|above| {
        let (found, rest) = (above.canonicalize().ok()?, absolute.strip_prefix(above).ok()?);
        Some(found.join(rest).components().collect())
    });
    found.unwrap_or(absolute)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_root_with_a_symlink_on_the_way_is_reserved_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["home/.opal/config", "keys", "other"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        symlink(top.join("home"), top.join("link")).unwrap();
        symlink(top.join("keys"), top.join("home/.opal/credentials")).unwrap();
        let reserved = Reserved::new(&top.join("link/.opal"));
        for path in ["home/.opal", "home/.opal/config/accepted.toml", "keys/signing.key"] {
            assert!(reserved.has(&top.join(path)), "{path}");
        }
        assert!(!reserved.has(&top.join("home/x")) && !reserved.has(&top.join("other/x")));
    }

    #[test]
    fn a_relative_root_is_reserved_where_it_is() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let reserved = Reserved::new(Path::new("no-root"));
        assert!(reserved.has(&here.join("no-root/credentials/key")));
        assert!(!reserved.has(&here.join("other")));
    }

    #[test]
    fn a_directory_with_something_reserved_in_it_is_not_left_to_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["home/.opal", "shop/.git", "shop/data/deep", "task/a/b", "module"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join("task/a/b/x.opl"), "").unwrap();
        fs::write(top.join("module/opal.mod"), "").unwrap();
        let reserved = Reserved::new(&top.join("home/.opal"));
        let has = |path: &str| Err(Excess::Has(top.join(path)));
        assert_eq!(reserved.leaves(&top.join("shop/data")), Ok(()));
        assert_eq!(reserved.leaves(&top.join("none")), Ok(()));
        for (path, found) in [
            ("home", "home/.opal"),
            ("home/.opal/logs", "home/.opal/logs"),
            ("shop", "shop/.git"),
            ("shop/.git", "shop/.git"),
            ("task", "task/a/b/x.opl"),
            ("module", "module/opal.mod"),
        ] {
            assert_eq!(reserved.leaves(&top.join(path)), has(found), "{path}");
        }
        assert!(reserved.leaves(Path::new("/")).is_err());
        assert!(reserved.leaves(Path::new("/dev/shm")).is_err());
    }
}
