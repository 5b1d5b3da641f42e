//! Paths of imports: what they may lead to, and how they are shown.

use std::io;
use std::path::{Component, Path, PathBuf};

use opal_core::Code;

use super::Missing;

/// The file of a project that is imported by its directory.
pub const PROJECT_FILE: &str = "commands.opl";

/// Either of them is at the top of a project.
const TOPS: [&str; 2] = ["opal.mod", ".git"];

/// The top of the project around a directory, which has no symlinks in its path: the nearest one with an
/// `opal.mod` or a `.git`, or else the directory itself.
pub fn top_around(folder: &Path, is_there: impl Fn(&Path) -> bool) -> &Path {
    let is_top = |folder: &&Path| TOPS.iter().any(|name| is_there(&folder.join(name)));
    folder.ancestors().find(is_top).unwrap_or(folder)
}

/// The path that a file in `folder` names, where it is below `top` by what its text says.
pub fn named<S>(top: &Path, folder: &Path, path: &Path) -> Result<PathBuf, Missing<S>> {
    let whole = folder.join(path);
    match path.is_absolute() || !normal(&whole).starts_with(top) {
        true => Err(outside(path, Some(top))),
        false => Ok(whole),
    }
}

/// Nothing outside a project is imported; without a `top` nobody knows where it begins.
#[must_use]
pub fn outside<S>(path: &Path, top: Option<&Path>) -> Missing<S> {
    let message = format!("`{}` is outside the project", path.display());
    let help = match top {
        Some(top) => format!("import files below `{}`, the top of the project", top.display()),
        None => "import files of this project".to_owned(),
    };
    Missing::Error(Code::ImportOutside, message, help)
}

/// Why a file cannot be read.
#[must_use]
pub fn unread<S>(path: &Path, error: &io::Error) -> Missing<S> {
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
#[must_use]
pub fn normal(path: &Path) -> PathBuf {
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
