//! The files of the workspace, and of the cache of packages: the only place that reads any.
//!
//! A path leads where its links lead. What is not below a directory of the workspace then is not opened,
//! whoever names it, and neither is what is not a regular file.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use opal_core::text::MAX_SOURCE_BYTES;
use opal_plan::program::Identity;
use opal_syntax::source;

/// The directories that the editor has open.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    roots: Vec<PathBuf>,
}

/// What a file was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// Length, time of the last change and number of a file.
    File(u64, i64, i64, u64),
    /// Open in the editor, changed so many times.
    Open(u64),
    Missing,
}

/// Directories that are walked for sources, at most.
const MOST_DIRECTORIES: usize = 50_000;
/// Sources that are found so, at most, and their bytes.
const MOST_SOURCES: usize = 20_000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Directories that have no sources of the project.
const PASSED: [&str; 4] = ["target", "node_modules", "vendor", "dist"];
/// Directories that have no sources at all.
const HISTORIES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

#[expect(clippy::disallowed_methods, reason = "this is the module that reads files")]
impl Disk {
    pub(crate) fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        let real = |root: PathBuf| root.canonicalize().unwrap_or(root);
        Self { roots: roots.into_iter().map(real).collect() }
    }

    /// One more directory; a file that is opened without a workspace brings its own.
    pub(crate) fn add(&mut self, root: &Path) {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
    }

    pub(crate) fn remove(&mut self, root: &Path) {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        self.roots.retain(|it| *it != root);
    }

    /// A path without links; that of its directory where there is no such file.
    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        if let Ok(real) = path.canonicalize() {
            return real;
        }
        match (path.parent().map(Path::canonicalize), path.file_name()) {
            (Some(Ok(folder)), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    }

    /// A path without links, where something is there.
    pub(crate) fn existing(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    /// Whether a path, which has no links, is in the workspace.
    pub(crate) fn contains(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| real.starts_with(root))
    }

    /// The root that a path is in.
    pub(crate) fn root_of(&self, real: &Path) -> Option<&Path> {
        let around = self.roots.iter().filter(|root| real.starts_with(root));
        around.max_by_key(|root| root.as_os_str().len()).map(PathBuf::as_path)
    }

    /// A path as people know it: from the top of the workspace.
    pub(crate) fn shown(&self, real: &Path) -> PathBuf {
        let below = self.root_of(real).and_then(|root| real.strip_prefix(root).ok());
        below.map_or_else(|| real.to_owned(), Path::to_owned)
    }

    /// Whether something has this name. That is all that is ever asked outside the workspace: where a
    /// project begins.
    pub(crate) fn is_there(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    /// Which file it is.
    pub(crate) fn identity(&self, real: &Path) -> Identity {
        match real.symlink_metadata() {
            Ok(found) => Identity::File { device: found.dev(), number: found.ino() },
            Err(_) => Identity::Text(real.to_owned()),
        }
    }

    /// The first bytes of a regular file: `limit` and one.
    pub(crate) fn read(&self, real: &Path, limit: u64) -> io::Result<Vec<u8>> {
        if !self.contains(real) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let found = real.symlink_metadata()?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !found.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(real)?.take(limit + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// A source.
    pub(crate) fn text(&self, real: &Path) -> Option<String> {
        source::decode(self.read(real, MAX_SOURCE_BYTES as u64).ok()?).ok()
    }

    pub(crate) fn stamp(&self, real: &Path) -> Stamp {
        match real.symlink_metadata() {
            Ok(found) if self.contains(real) => {
                Stamp::File(found.len(), found.mtime(), found.mtime_nsec(), found.ino())
            }
            _ => Stamp::Missing,
        }
    }

    /// The sources and the files of variables in the workspace.
    pub(crate) fn walk(&self) -> Walked {
        self.visit(self.roots.clone(), is_passed)
    }

    /// The sources in directories that a walk passes: as many as a walk may find.
    pub(crate) fn passed(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let is_walked = |it: &&PathBuf| !it.file_name().is_some_and(is_history);
        let folders = folders.iter().filter(is_walked).cloned().collect();
        let mut paths = self.visit(folders, is_history).paths;
        paths.retain(|path| path.extension().is_some_and(|it| it == "opl"));
        paths
    }

    fn visit(&self, mut open: Vec<PathBuf>, is_passed: fn(&OsStr) -> bool) -> Walked {
        let mut walked = Walked { is_whole: true, ..Walked::default() };
        let (mut directories, mut left) = (0, MOST_BYTES);
        while let Some(folder) = open.pop() {
            directories += 1;
            if directories > MOST_DIRECTORIES {
                walked.is_whole = false;
                break;
            }
            let Ok(entries) = std::fs::read_dir(&folder) else {
                walked.is_whole = false;
                continue;
            };
            for entry in entries {
                let Ok(entry) = entry else {
                    walked.is_whole = false;
                    break;
                };
                let name = entry.file_name();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && is_passed(&name) => {
                        walked.passed.push(entry.path());
                    }
                    Ok(kind) if kind.is_dir() => open.push(entry.path()),
                    Ok(kind) if kind.is_file() && is_source(&name) => {
                        let bytes = entry.metadata().map_or(0, |found| found.len());
                        if bytes > left || walked.paths.len() == MOST_SOURCES {
                            walked.is_whole = false;
                            continue;
                        }
                        left -= bytes;
                        walked.paths.push(entry.path());
                    }
                    _ => {}
                }
            }
        }
        walked.paths.sort();
        walked
    }
}

/// What is in a workspace.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// In their order.
    pub(crate) paths: Vec<PathBuf>,
    /// There is nothing more than that, but in the directories that were passed.
    pub(crate) is_whole: bool,
    pub(crate) passed: Vec<PathBuf>,
}

fn is_history(name: &OsStr) -> bool {
    HISTORIES.iter().any(|it| name == *it)
}

fn is_passed(name: &OsStr) -> bool {
    name.to_str().is_none_or(|name| name.starts_with('.') || PASSED.contains(&name))
}

fn is_source(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".opl") || is_variables(name))
}

/// Whether a file has variables of the environment.
pub(crate) fn is_variables(name: &str) -> bool {
    name == ".env" || name.starts_with(".env.") || name.ends_with(".env")
}
