//! A copy of the file as it was before a change, with its mode and owner and what else it has.

use std::ffi::OsString;
use std::path::Path;

use opal_core::files::{Attributes, Existing, Files};
use opal_core::resolver::{Probe, Trouble, TroubleKind};

use super::{Found, Wanted};
use crate::resource::content;

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
    let entry = &found.entry;
    let attributes =
        Attributes { mode: Some(entry.mode), owner: Some(entry.owner), group: Some(entry.group) };
    let write = |path: &Path| {
        let mut pending = files.write(path, &attributes, Existing::Refused)?;
        pending.resemble(&wanted.path)?;
        content::keep(pending, path, &found.content)
    };
    let is_taken = |path: &Path| probe.stat(path).map(|found| found.is_some());
    for number in 0..MAX_BACKUPS {
        let path = directory.join(name(&wanted.path, number));
        if is_taken(&path)? {
            continue;
        }
        match write(&path) {
            // A backup of another file with the same name came first.
            Err(_) if is_taken(&path)? => {}
            written => return written,
        }
    }
    let (directory, of) = (directory.display(), wanted.path.display());
    Err(Trouble::new(
        TroubleKind::Failed,
        format!("`{directory}` contains {MAX_BACKUPS} backups of `{of}`"),
        "move some of them away",
    ))
}

fn name(of: &Path, number: usize) -> OsString {
    let mut name = OsString::from(of.file_name().unwrap_or_default());
    name.push(".bak");
    if number > 0 {
        name.push(format!(".{number}"));
    }
    name
}
