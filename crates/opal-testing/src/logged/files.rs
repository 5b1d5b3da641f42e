//! Files of a session that runs nothing: what is written to them is remembered.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use opal_core::action::{Pending, TextFile};
use opal_core::files::{Attributes, Existing, Files};
use opal_core::resolver::Trouble;

use super::{LoggedSession, State, lock};
use crate::memory::Tree;

/// Each change is noted, and made to the world that resources see.
impl Files for LoggedSession {
    fn write(
        &self,
        path: &Path,
        attributes: &Attributes,
        existing: Existing,
    ) -> Result<Box<dyn Pending>, Trouble> {
        self.note(format!("write {}{}", path.display(), said(attributes)));
        if existing == Existing::Refused {
            self.world.tree().refuse_anything(path)?;
        }
        let tree = Some((self.world.share_tree(), *attributes));
        let path = path.to_string_lossy().into_owned();
        let state = Arc::clone(&self.state);
        Ok(Box::new(LoggedFile { path, bytes: Some(Vec::new()), state, tree }))
    }

    fn make_directory(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        self.note(format!("make directory {}{}", path.display(), said(attributes)));
        let mut tree = self.world.tree();
        tree.make_directory(path)?;
        tree.set(path, attributes)
    }

    fn make_link(&self, path: &Path, to: &Path, replace: bool) -> Result<(), Trouble> {
        let instead = if replace { " in place of what is there" } else { "" };
        self.note(format!("link {} to {}{instead}", path.display(), to.display()));
        self.world.tree().make_link(path, to, replace)
    }

    fn set(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        self.note(format!("set {}{}", path.display(), said(attributes)));
        self.world.tree().set(path, attributes)
    }

    fn remove(&self, path: &Path, recursive: bool) -> Result<(), Trouble> {
        let all = if recursive { " with all that is in it" } else { "" };
        self.note(format!("remove {}{all}", path.display()));
        self.world.tree().remove(path, recursive)
    }

    fn within<'f>(&'f self, directory: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        self.note(format!("within {}", directory.display()));
        Ok(Box::new(Below(self)))
    }
}

/// In memory nobody swaps anything.
struct Below<'f>(&'f LoggedSession);

impl Files for Below<'_> {
    fn write(
        &self,
        path: &Path,
        attributes: &Attributes,
        existing: Existing,
    ) -> Result<Box<dyn Pending>, Trouble> {
        self.0.write(path, attributes, existing)
    }

    fn make_directory(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        self.0.make_directory(path, attributes)
    }

    fn make_link(&self, path: &Path, to: &Path, replace: bool) -> Result<(), Trouble> {
        self.0.make_link(path, to, replace)
    }

    fn set(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        self.0.set(path, attributes)
    }

    fn remove(&self, path: &Path, recursive: bool) -> Result<(), Trouble> {
        self.0.remove(path, recursive)
    }

    fn within<'f>(&'f self, directory: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        self.0.within(directory)
    }
}

fn said(attributes: &Attributes) -> String {
    let Attributes { mode, owner, group } = attributes;
    let mode = mode.map_or_else(String::new, |mode| format!(" as {mode:o}"));
    let owner = owner.map_or_else(String::new, |owner| format!(" of {owner}"));
    let group = group.map_or_else(String::new, |group| format!(" in {group}"));
    mode + &owner + &group
}

/// A file that is being written.
pub(super) struct LoggedFile {
    pub(super) path: String,
    /// None once it is kept.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) state: Arc<Mutex<State>>,
    /// Where it becomes a file, of a resource, and what is said about it.
    pub(super) tree: Option<(Arc<Mutex<Tree>>, Attributes)>,
}

impl Write for LoggedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.get_or_insert_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pending for LoggedFile {
    fn keep(mut self: Box<Self>) -> Result<(), Trouble> {
        let bytes = self.bytes.take().unwrap_or_default();
        if let Some((tree, attributes)) = &self.tree {
            let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
            tree.write(Path::new(&self.path), bytes.clone())?;
            tree.set(Path::new(&self.path), attributes)?;
        }
        let mut state = lock(&self.state);
        state.log.push(format!("keep {}", self.path));
        state.kept.insert(self.path.clone(), bytes);
        Ok(())
    }
}

impl Drop for LoggedFile {
    fn drop(&mut self) {
        if self.bytes.is_some() {
            lock(&self.state).log.push(format!("drop {}", self.path));
        }
    }
}

/// A text in a file that is not there.
#[derive(Debug)]
pub(super) struct LoggedText;

impl TextFile for LoggedText {
    fn path(&self) -> &str {
        "/tmp/opal-text"
    }
}
