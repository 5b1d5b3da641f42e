//! Which files of a run may hold a secret in clear while it goes on. They are listed before they are
//! written: where opal is killed, the next run of the module finds the list, and what is on it.
//!
//! A list is locked as long as its run goes on, the tools included. Deliberately not here: taking a
//! secret out of a file, and removing one.

use std::fs;
use std::path::{Component, Path, PathBuf};

use opal_vault::Vault;
use serde_json::json;

use super::file::{self, Unkept};
use super::id::{RunId, is_word};
use super::lock::{Lock, NoLock};
use super::root::RuntimeRoot;
use crate::ModuleRef;

/// At most this many lists are read in one run; finished ones are gone in the next.
const MOST_LISTS: usize = 100;

/// A list has one name for every file that a driver writes.
const MOST_BYTES: u64 = 1 << 20;

/// The list of a run that goes on.
#[derive(Debug)]
pub(crate) struct Exposed {
    list: PathBuf,
    lock: Lock,
}

impl Exposed {
    /// Lists files below the stack of a run, none of which is there yet.
    pub(crate) fn begin(
        root: &RuntimeRoot,
        module: &ModuleRef,
        run: &RunId,
        files: &[String],
    ) -> Result<Self, Unkept> {
        let list = root.exposed(module).join(format!("{run}.json"));
        let lock = Lock::take(&list).map_err(|no| match no {
            NoLock::Busy(path) => Unkept::because(&path, "another run has this name"),
            NoLock::Unkept(unkept) => unkept,
        })?;
        // Names of files are not secrets.
        file::write(&list, &Vault::new().json(&json!(files), &[]))?;
        Ok(Self { list, lock })
    }

    /// Nothing on it is in clear any more. A list that stays all the same is dealt with by the next
    /// run.
    pub(crate) fn end(self) {
        forget(&self.list);
        drop(self.lock);
    }
}

/// The list of a run that was killed, or could not do away with everything.
#[derive(Debug)]
pub(crate) struct Abandoned {
    list: PathBuf,
    /// The stack of the run, below `work`.
    pub(crate) stack: PathBuf,
    /// What may hold a secret: all of it is below the stack.
    pub(crate) files: Vec<PathBuf>,
    /// Where its evidence is, unless that was put elsewhere.
    pub(crate) evidence: PathBuf,
}

impl Abandoned {
    /// None of the files is there any more.
    pub(crate) fn end(self) {
        forget(&self.list);
    }
}

/// The lists of a module that nobody goes on with.
#[must_use]
pub(crate) fn abandoned(root: &RuntimeRoot, module: &ModuleRef) -> Vec<Abandoned> {
    let entries = fs::read_dir(root.exposed(module)).into_iter().flatten();
    let lists = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let lists = lists.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut lists: Vec<PathBuf> = lists.take(MOST_LISTS).collect();
    lists.sort();
    let found = lists.into_iter().filter(|list| Lock::is_free(list).unwrap_or_default());
    found
        .filter_map(|list| {
            let run = list.file_stem()?.to_str().filter(|name| is_word(name))?;
            let stack = root.path().join("work").join(module.id()).join(run).join("stack");
            let text = file::read(&list, MOST_BYTES).ok()??;
            let names: Vec<String> = serde_json::from_slice(&text).unwrap_or_default();
            let names = names.iter().filter(|name| stays(Path::new(name)));
            let files = names.map(|name| stack.join(name)).collect();
            let evidence = root.path().join("logs/module").join(module.id()).join(run);
            Some(Abandoned { list, stack, files, evidence })
        })
        .collect()
}

fn stays(name: &Path) -> bool {
    name.file_name().is_some() && name.components().all(|part| matches!(part, Component::Normal(_)))
}

/// The list first: a lock without one means nothing.
fn forget(list: &Path) {
    if fs::remove_file(list).is_ok() {
        let _ = fs::remove_file(list.with_extension("lock"));
    }
}
