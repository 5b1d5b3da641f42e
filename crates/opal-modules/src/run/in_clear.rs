//! What a run has in clear on the disk: from the first file that is written for its tools until their
//! outputs have been read. What an earlier one has left is removed here too.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use opal_core::files::Files;

use super::prepared::Prepared;
use crate::keep::{Exposed, MOST_ENTRIES, Strays, abandoned};

#[derive(Debug, Default)]
pub(super) struct InClear(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    list: Option<Exposed>,
    /// Whether something of it cannot be done away with.
    stays: bool,
    warnings: Vec<String>,
}

impl InClear {
    /// What is on the list may be there from now on.
    pub(super) fn begin(&self, list: Exposed) {
        self.known().list = Some(list);
    }

    /// Something stays in clear, and the next run tries again.
    pub(super) fn stays(&self, warning: String) {
        let mut known = self.known();
        known.stays = true;
        known.warnings.push(warning);
    }

    /// All that could be done has been. Gives what could not.
    pub(super) fn end(&self) -> Vec<String> {
        let Known { list, stays, warnings } = std::mem::take(&mut *self.known());
        list.filter(|_| !stays).into_iter().for_each(Exposed::end);
        warnings
    }

    /// Removes what earlier runs of the module have left.
    pub(super) fn sweep(&self, prepared: &Prepared, files: &dyn Files) {
        let (root, mut room) = (&prepared.root, MOST_ENTRIES);
        let work = root.path().join("work");
        for left in abandoned(root, &prepared.spec.module_ref) {
            let mut strays =
                Strays::below(&left.stack, left.files.iter().map(PathBuf::as_path), &mut room);
            strays.found.extend(left.files.iter().cloned());
            let unfinished = Strays::in_evidence(&left.evidence);
            let removed = remove_all(&work, strays, files);
            match removed.and(remove_all(&left.evidence, unfinished, files)) {
                Ok(()) => left.end(),
                Err(why) => self.known().warnings.push(format!(
                    "an earlier run of this module may have left a secret in clear: {why}"
                )),
            }
        }
    }

    /// Removes the copies that the tools of this run have made of files with these names.
    pub(super) fn remove_copies<'l>(
        &self,
        stack: &Path,
        listed: impl IntoIterator<Item = &'l String>,
        files: &dyn Files,
    ) {
        let mut room = MOST_ENTRIES;
        let strays = Strays::below(stack, listed.into_iter().map(Path::new), &mut room);
        if let Err(why) = remove_all(stack, strays, files) {
            self.stays(format!("a secret may still be in clear: {why}"));
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes files below a directory, through no link.
fn remove_all(below: &Path, strays: Strays, files: &dyn Files) -> Result<(), String> {
    let Strays { found, trouble } = strays;
    if found.is_empty() {
        return trouble.map_or(Ok(()), Err);
    }
    let files = files.within(below).map_err(|trouble| trouble.message)?;
    let removed = found.iter().map(|path| files.remove(path, false));
    let troubles = removed.filter_map(|it| Some(String::from(it.err()?.message))).chain(trouble);
    let troubles: Vec<String> = troubles.collect();
    if troubles.is_empty() { Ok(()) } else { Err(troubles.join("; ")) }
}
