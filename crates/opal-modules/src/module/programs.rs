//! Where programs are.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The directories that `$PATH` names.
#[derive(Clone, Debug, Default)]
pub struct Programs(Vec<PathBuf>);

impl Programs {
    #[must_use]
    pub fn new(path: Option<&OsString>) -> Self {
        let folders = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
        Self(folders)
    }

    /// Where the program is, if it is there.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        };
        // A directory that is named from where one stands could be anybody's.
        let mut places = self.0.iter().filter(|folder| folder.is_absolute());
        places.find_map(|folder| Some(folder.join(name)).filter(is_program))
    }
}
