//! The project around a source, and opening its files: each once, below a descriptor of its directory.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use opal_core::Code;
use opal_files::beneath;
use opal_files::trusted::{Trust, Untrusted};

/// The file of a project that is imported by its directory.
pub(super) const PROJECT_FILE: &str = "commands.opl";

/// Either of them is at the top of a project.
const TOPS: [&str; 2] = ["opal.mod", ".git"];

/// The directory that all files are below.
#[derive(Debug)]
pub(super) struct Project {
    /// Without symlinks.
    root: PathBuf,
    top: OwnedFd,
    /// Who may have written the files.
    trust: Trust,
}

/// Why an import is not there.
pub(super) enum Missing {
    /// With the words after the path in backticks.
    Error(Code, String, String),
    /// Nothing is there: the words after it.
    Absent(String),
    Untrusted(Untrusted),
}

/// A file that is open.
pub(super) struct Found {
    pub(super) bytes: Vec<u8>,
    pub(super) folder: PathBuf,
    pub(super) identity: (u64, u64),
}

impl Missing {
    pub(super) fn outside(path: &Path, root: Option<&Path>) -> Self {
        let message = format!("`{}` is outside the project", path.display());
        let help = match root {
            Some(root) => {
                format!("import files below `{}`, the top of the project", root.display())
            }
            None => "import files of this project".to_owned(),
        };
        Self::Error(Code::ImportOutside, message, help)
    }
}

impl Project {
    /// The nearest one around a directory, which has no symlinks in its path.
    pub(super) fn around(folder: &Path, trust: Trust) -> Option<Self> {
        let root = top_around(folder).to_owned();
        let top = beneath::directory(&root).ok()?;
        Some(Self { root, top, trust })
    }

    /// Reads a file that a file in `folder` names; never more than `limit` bytes and one.
    pub(super) fn open(&self, folder: &Path, path: &Path, limit: u64) -> Result<Found, Missing> {
        let outside = || Missing::outside(path, Some(&self.root));
        let whole = folder.join(path);
        if path.is_absolute() || !normal(&whole).starts_with(&self.root) {
            return Err(outside());
        }
        let unread = |error: io::Error| unread(path, &error);
        let real = whole.canonicalize().map_err(unread)?;
        let Ok(below) = real.strip_prefix(&self.root) else { return Err(outside()) };
        let opened = beneath::open(&self.top, below).map_err(unread)?;
        self.trust.check(&real, &opened).map_err(Missing::Untrusted)?;
        let facts = opened.file.metadata().map_err(unread)?;
        let mut bytes = Vec::new();
        opened.file.take(limit + 1).read_to_end(&mut bytes).map_err(unread)?;
        let folder = real.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Found { bytes, folder, identity: (facts.dev(), facts.ino()) })
    }
}

/// The top of the project around a directory, which has no symlinks in its path: the nearest one with an
/// `opal.mod` or a `.git`, or else the directory itself.
#[must_use]
pub fn top_around(folder: &Path) -> &Path {
    let is_top =
        |folder: &&Path| TOPS.iter().any(|name| folder.join(name).symlink_metadata().is_ok());
    folder.ancestors().find(is_top).unwrap_or(folder)
}

fn unread(path: &Path, error: &io::Error) -> Missing {
    let written = path.display();
    let (message, help) = match error.kind() {
        io::ErrorKind::NotFound => {
            return Missing::Absent(format!("`{written}` does not exist"));
        }
        io::ErrorKind::IsADirectory => (
            format!("`{written}` is a directory"),
            format!("a project is imported by its directory, which has a `{PROJECT_FILE}`"),
        ),
        _ => (format!("`{written}` cannot be read: {error}"), "check the file".to_owned()),
    };
    Missing::Error(Code::ImportNotFound, message, help)
}

/// The name of a file that another one imports.
pub(super) fn shown(importer: &Path, path: &Path) -> PathBuf {
    normal(&importer.parent().unwrap_or(Path::new("")).join(path))
}

/// Without `.` and `..`, as the text says it.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A path seen from a directory; both relative, or both absolute.
#[must_use]
pub fn seen_from(directory: &Path, path: &Path) -> PathBuf {
    let mut up = PathBuf::new();
    for above in directory.ancestors() {
        if let Ok(below) = path.strip_prefix(above) {
            let whole = up.join(below);
            return if whole.as_os_str().is_empty() { PathBuf::from(".") } else { whole };
        }
        up.push("..");
    }
    path.to_owned()
}
