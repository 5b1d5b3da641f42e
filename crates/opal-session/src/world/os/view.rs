//! The machine, seen from one place.
//!
//! A view borrows all that it is made of: verifying a thousand resources copies no environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use opal_core::Secret;
use opal_core::files::Entry;
use opal_core::inventory::Entries;
#[cfg(feature = "origin")]
use opal_core::inventory::{Inventory, Wanted};
use opal_core::resolver::{Answer, Ask, Host, Links, Port, Probe, Request, Run, Trouble};

use super::{OsWorld, entries, files, shells};
#[cfg(feature = "origin")]
use super::{inventory, ports};
use crate::error::{NoPages, SessionError};
use crate::noted::Depth;
use crate::stop::{Order, Stop};

/// An [`OsWorld`], and the directory it is seen from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) world: &'a OsWorld,
    /// Where relative paths begin.
    pub(crate) base: &'a Path,
    /// Where commands run.
    pub(crate) directory: &'a Path,
    /// On top of the environment of the world.
    pub(crate) environment: &'a BTreeMap<String, Secret>,
    /// Lets commands end as soon as it says so.
    pub(crate) stop: &'a Stop,
}

impl<'a> View<'a> {
    pub(super) fn variable(&self, name: &str) -> Option<&'a OsStr> {
        let more = self.environment.get(name).map(|value| OsStr::new(value.expose()));
        let usual = || self.world.surroundings.environment.get(OsStr::new(name));
        more.or_else(|| usual().map(OsString::as_os_str))
    }

    /// A world of its own that is seen from a directory.
    pub(super) fn world_within(&self, directory: impl AsRef<Path>) -> OsWorld {
        let mut surroundings = self.world.surroundings.clone();
        let more = self.environment.iter();
        let more = more.map(|(name, value)| (name.into(), value.expose().into()));
        if !self.environment.is_empty() {
            Arc::make_mut(&mut surroundings.environment).extend(more);
        }
        surroundings.start = self.base.join(directory);
        let mut world = OsWorld::with_limits(surroundings, self.world.limits).stopped_by(self.stop);
        world.noted.clone_from(&self.world.noted);
        world
    }

    fn note(&self, path: &Path, depth: Depth) {
        if let Some(noted) = &self.world.noted {
            noted.add(path, depth);
        }
    }

    /// A directory that a command names, seen from where commands run.
    pub(super) fn inside(&self, path: &str) -> Result<PathBuf, Trouble> {
        files::place(self.directory, self.world.surroundings.home.as_deref(), path)
    }
}

/// A file that is read no further than needed: it may be long.
struct Reading {
    file: File,
    stop: Stop,
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.order() {
            Order::GoOn => self.file.read(buffer),
            Order::End { .. } | Order::Kill => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Probe for View<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.order() != Order::GoOn
    }

    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        let Some(value) = self.variable(name) else { return Ok(None) };
        let text = value
            .to_str()
            .ok_or_else(|| SessionError::VariableNotText { name: name.to_owned() })?;
        Ok(Some(Secret::new(text)))
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble> {
        let place = self.place(path)?;
        self.note(&place, Depth::Content);
        let file = files::open(&place, path)?;
        Ok(Box::new(Reading { file, stop: self.stop.clone() }))
    }

    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble> {
        shells::run(self, run)
    }

    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble> {
        let pages = self.world.surroundings.pages.as_ref().ok_or(NoPages)?;
        pages.get(request, &|name| self.variable(name)?.to_str())
    }

    #[cfg(feature = "origin")]
    fn connect(&self, port: &Port<'_>) -> Result<(), Trouble> {
        ports::connect(port)
    }

    #[cfg(not(feature = "origin"))]
    fn connect(&self, _: &Port<'_>) -> Result<(), Trouble> {
        Err(NoPages.into())
    }

    fn now(&self) -> SystemTime {
        crate::clock::now()
    }

    fn host(&self) -> Host {
        Host {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        }
    }

    fn caller(&self) -> PathBuf {
        self.world.surroundings.caller.clone()
    }

    fn place(&self, path: &str) -> Result<PathBuf, Trouble> {
        let home = self.world.surroundings.home.as_deref();
        // With a slash at its end a link would be what it leads to.
        files::place(self.base, home, path).map(|place| place.components().collect())
    }

    fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble> {
        self.note(path, Depth::Kind);
        entries::stat(path)
    }

    fn read(&self, path: &Path, links: Links<'_>) -> Result<Box<dyn Read>, Trouble> {
        self.note(path, Depth::Content);
        let name = path.to_string_lossy();
        let file = match links {
            Links::Followed => files::open(path, &name)?,
            Links::FollowedTo(top) => files::open_below(top, path, &name)?,
        };
        Ok(Box::new(Reading { file, stop: self.stop.clone() }))
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble> {
        entries::read_link(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble> {
        self.note(path, Depth::Content);
        entries::list(path)
    }

    fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        shells::ask(self, ask)
    }

    #[cfg(feature = "origin")]
    fn inventory(&self, wanted: &Wanted<'_>) -> Result<Inventory, Trouble> {
        let surroundings = &self.world.surroundings;
        let (home, entries) = (surroundings.home.as_deref(), surroundings.entries.as_deref());
        let project = entries.map(|entries| entries.project());
        let scene = inventory::Scene::new(self.base, home, project, self.stop);
        inventory::take(&scene, wanted)
    }

    fn entries(&self) -> Option<&dyn Entries> {
        self.world.entries()
    }

    fn within(&self, directory: &str) -> Box<dyn Probe + '_> {
        Box::new(self.world_within(directory))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use opal_core::resolver::{ScriptPart, TroubleKind};

    use super::*;
    use crate::world::{Limits, Surroundings};

    #[test]
    fn what_is_asked_has_the_time_of_who_asks_and_what_is_read_that_of_the_world() {
        let limits = Limits { command: Duration::from_millis(50) };
        let world = OsWorld::with_limits(Surroundings::default(), limits);
        let (root, environment, stop) = (Path::new("/"), BTreeMap::new(), Stop::new());
        let (base, directory, environment, stop) = (root, root, &environment, &stop);
        let view = View { world: &world, base, directory, environment, stop };
        let parts = [ScriptPart::Text("sleep 0.3; exit 3".to_owned())];
        let run = Run::Script(&parts);
        let answer = view.ask(&Ask { run, ..Ask::program(&[]) });
        assert_eq!(answer.unwrap().code, 3);
        assert_eq!(view.run(&run).unwrap_err().kind, TroubleKind::TimedOut);
    }
}
