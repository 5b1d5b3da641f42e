//! This machine as resources see it and change it.
//!
//! A change begins with a walk to the directory that holds the path, and from then on knows that
//! directory by its descriptor: whatever is put in the way meanwhile turns no write.
//!
//! | what | where |
//! |---|---|
//! | the walk, and which links it follows | `way` |
//! | writing a file, one step after the other | `write`, `turn` |
//! | what a replaced file hands on besides mode and owner | `extended` |
//! | directories, links, modes and owners | `change` |
//! | removing | `remove` |
//! | what is mounted in a tree | `mounts` |

mod change;
mod extended;
mod mounts;
mod remove;
mod turn;
mod way;
mod write;

use std::path::Path;
use std::sync::Arc;

use opal_core::action::Pending;
use opal_core::files::{Attributes, Existing, Files};
use opal_core::resolver::Trouble;

use super::setup::Setup;
use crate::Place;
use crate::world::{OsWorld, Surroundings, View};
use way::Beginning;

impl super::LocalSession {
    /// The machine of the session, to be asked from any of its places.
    pub(super) fn world(&self) -> &OsWorld {
        self.world.get_or_init(|| world(&self.setup))
    }
}

fn world(setup: &Setup) -> OsWorld {
    OsWorld::new(Surroundings {
        environment: Arc::clone(&setup.environment),
        start: setup.start.clone(),
        home: setup.home.clone(),
        entries: setup.entries.clone(),
        pages: setup.pages.clone(),
        reach: None,
        ..Surroundings::default()
    })
}

pub(super) fn probe<'s>(world: &'s OsWorld, place: &Place<'s>) -> View<'s> {
    let Place { base, directory, environment, stop, .. } = *place;
    View { world, base, directory, environment, stop }
}

/// Files of this machine, from where their ways begin.
#[derive(Debug)]
pub(crate) struct LocalFiles(Beginning);

/// All of them.
pub(crate) static FILES: LocalFiles = LocalFiles(Beginning::Root);

impl LocalFiles {
    /// Those in a directory, which is held from here on.
    pub(crate) fn held(&self, directory: &Path) -> Result<Self, Trouble> {
        Ok(Self(self.0.within(directory)?))
    }
}

impl Files for LocalFiles {
    fn write(
        &self,
        path: &Path,
        attributes: &Attributes,
        existing: Existing,
    ) -> Result<Box<dyn Pending>, Trouble> {
        write::begin(&self.0, path, attributes, existing)
    }

    fn make_directory(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        change::make_directory(&self.0, path, attributes)
    }

    fn make_link(&self, path: &Path, to: &Path, replace: bool) -> Result<(), Trouble> {
        change::make_link(&self.0, path, to, replace)
    }

    fn set(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        change::set(&self.0, path, attributes)
    }

    fn remove(&self, path: &Path, recursive: bool) -> Result<(), Trouble> {
        remove::remove(&self.0, path, recursive)
    }

    fn within<'f>(&'f self, directory: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        Ok(Box::new(self.held(directory)?))
    }
}
