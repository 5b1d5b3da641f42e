//! The machine this runs on.

mod children;
mod descendants;
mod entries;
mod files;
#[cfg(feature = "origin")]
mod inventory;
#[cfg(feature = "origin")]
mod ports;
mod shells;
mod view;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use opal_core::Secret;
use opal_core::crossing::Crossing;
use opal_core::files::Entry;
use opal_core::inventory::{Entries, EntryStore};
#[cfg(feature = "origin")]
use opal_core::inventory::{Inventory, Wanted};
use opal_core::pages::Pages;
use opal_core::resolver::{Answer, Ask, Host, Links, Port, Probe, Request, Run, Trouble};

use shells::Interpreter;

use crate::noted::Noted;
use crate::stop::Stop;
use crate::targets::Reach;

pub(crate) use files::place;
#[cfg(feature = "origin")]
pub(crate) use inventory::{Scene, files_at};
pub(crate) use view::View;

/// What the process was started with. The command line collects it, once; nothing here reads the
/// environment of the process.
#[derive(Clone, Default)]
pub struct Surroundings {
    pub environment: Arc<BTreeMap<OsString, OsString>>,
    /// Where the steps start: relative paths begin here, and commands run here.
    pub start: PathBuf,
    /// Where opal was called.
    pub caller: PathBuf,
    /// What `~` stands for; none where there is no home.
    pub home: Option<PathBuf>,
    /// The variables of the environment that files of the project set.
    pub declared: Vec<String>,
    /// What is remembered of earlier runs.
    pub entries: Option<Arc<dyn EntryStore>>,
    /// Who reads pages of the web; none on a machine that is not opal's own.
    pub pages: Option<Arc<dyn Pages>>,
    /// Who opens sessions on targets; none on a machine that is not opal's own.
    pub reach: Option<Arc<dyn Reach>>,
}

/// How long looking may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For one command, after which it and its descendants are ended.
    pub command: Duration,
}

/// The operating system. Nothing is loaded or started before it is asked for.
pub struct OsWorld {
    surroundings: Surroundings,
    limits: Limits,
    stop: Stop,
    shell: OnceLock<Option<Interpreter>>,
    noted: Option<Arc<Noted>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { command: Duration::from_mins(5) }
    }
}

impl OsWorld {
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Self {
        Self::with_limits(surroundings, Limits::default())
    }

    #[must_use]
    pub fn with_limits(surroundings: Surroundings, limits: Limits) -> Self {
        Self { surroundings, limits, stop: Stop::new(), shell: OnceLock::new(), noted: None }
    }

    /// Notes the paths that are read from now on.
    #[must_use]
    pub fn noting(mut self, noted: &Arc<Noted>) -> Self {
        self.noted = Some(Arc::clone(noted));
        self
    }

    /// Lets commands end as soon as this says so.
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// The same world, seen from a directory.
    #[must_use]
    pub fn seen_from(&self, directory: &Path) -> Self {
        self.view().world_within(directory)
    }

    /// What the parser of the shell says against a text; none where it accepts it, or where there
    /// is no shell. Nothing is executed.
    pub fn syntax(&self, text: &str) -> Result<Option<String>, Trouble> {
        let stop = self.stop.limited(self.limits.command, Duration::ZERO);
        shells::syntax(&View { stop: &stop, ..self.view() }, text)
    }

    /// What planning sees: from where the steps start, with the environment as it is.
    fn view(&self) -> View<'_> {
        static NOTHING: BTreeMap<String, Secret> = BTreeMap::new();
        let start = &*self.surroundings.start;
        View { world: self, base: start, directory: start, environment: &NOTHING, stop: &self.stop }
    }
}

impl Probe for OsWorld {
    fn is_stopped(&self) -> bool {
        self.view().is_stopped()
    }

    fn declared(&self) -> Vec<String> {
        self.surroundings.declared.clone()
    }

    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        self.view().env(name)
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble> {
        self.view().open(path)
    }

    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble> {
        self.view().run(run)
    }

    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble> {
        self.view().get(request)
    }

    fn connect(&self, port: &Port<'_>) -> Result<(), Trouble> {
        self.view().connect(port)
    }

    fn now(&self) -> SystemTime {
        self.view().now()
    }

    fn host(&self) -> Host {
        self.view().host()
    }

    fn caller(&self) -> PathBuf {
        self.view().caller()
    }

    fn place(&self, path: &str) -> Result<PathBuf, Trouble> {
        self.view().place(path)
    }

    fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble> {
        self.view().stat(path)
    }

    fn read(&self, path: &Path, links: Links<'_>) -> Result<Box<dyn Read>, Trouble> {
        self.view().read(path, links)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble> {
        self.view().read_link(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble> {
        self.view().list(path)
    }

    fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        // Nothing else ends it: planning has no step whose time it could take.
        let stop = self.stop.limited(self.limits.command, Duration::ZERO);
        View { stop: &stop, ..self.view() }.ask(ask)
    }

    #[cfg(feature = "origin")]
    fn inventory(&self, wanted: &Wanted<'_>) -> Result<Inventory, Trouble> {
        self.view().inventory(wanted)
    }

    fn entries(&self) -> Option<&dyn Entries> {
        self.surroundings.entries.as_deref().map(|store| store as &dyn Entries)
    }

    fn within(&self, directory: &str) -> Box<dyn Probe + '_> {
        Box::new(self.view().world_within(directory))
    }

    fn reach(&self, way: &[Crossing]) -> Result<Box<dyn Probe + '_>, Trouble> {
        match &self.surroundings.reach {
            Some(reach) => Ok(reach.look(way)?),
            None => Err(Trouble::no_targets()),
        }
    }
}

/// The names of the variables and never their values.
impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("environment", &self.environment.keys())
            .field("start", &self.start)
            .field("caller", &self.caller)
            .field("home", &self.home)
            .finish()
    }
}

impl fmt::Debug for OsWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OsWorld")
            .field("surroundings", &self.surroundings)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
