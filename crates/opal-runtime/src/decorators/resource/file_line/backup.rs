//! A copy of the file as it was before a change, with its mode and owner.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use opal_core::files::{Attributes, Files};
use opal_core::resolver::{Probe, Trouble, TroubleKind};

use super::{Found, Wanted};
use crate::decorators::resource::content;

/// Backups of one file that are kept in one place.
const MAX_BACKUPS: usize = 1_000;

pub(super) fn keep(
    wanted: &Wanted<'_>,
    found: &Found,
    probe: &dyn Probe,
    files: &dyn Files,
) -> Result<(), Trouble> {
    let directory = match &wanted.backup_dir {
        Some(directory) => {
            files.make_directory(directory, &Attributes::default())?;
            directory.as_path()
        }
        None => wanted.path.parent().unwrap_or(&wanted.path),
    };
    let path = free(directory, &wanted.path, probe)?;
    let entry = &found.entry;
    let attributes =
        Attributes { mode: Some(entry.mode), owner: Some(entry.owner), group: Some(entry.group) };
    content::write(files, &path, &attributes, &found.content)
}

/// The first name that nothing has yet.
fn free(directory: &Path, of: &Path, probe: &dyn Probe) -> Result<PathBuf, Trouble> {
    let mut name = OsString::from(of.file_name().unwrap_or_default());
    name.push(".bak");
    for number in 0..MAX_BACKUPS {
        let mut name = name.clone();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        let path = directory.join(name);
        if probe.look(&path)?.is_none() {
            return Ok(path);
        }
    }
    Err(Trouble::new(
        TroubleKind::Failed,
        format!("`{}` holds {MAX_BACKUPS} backups of `{}`", directory.display(), of.display()),
        "move some of them away",
    ))
}
