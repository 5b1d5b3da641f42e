//! The machine this runs on.

mod children;
mod descendants;
mod files;
mod http;
mod shells;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use opal_core::Secret;
use opal_core::resolver::{Host, Probe, Request, Run, Trouble, TroubleKind};

use shells::Interpreter;

use crate::stop::Stop;

/// What the process was started with. The command line collects it, once; nothing here reads the
/// environment of the process.
#[derive(Clone, Default)]
pub struct Surroundings {
    pub environment: BTreeMap<OsString, OsString>,
    /// Where the steps start: relative paths begin here, and commands run here.
    pub start: PathBuf,
    /// What `~` stands for; none where there is no home.
    pub home: Option<PathBuf>,
}

/// How long looking may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For one command, after which it and its descendants are ended.
    pub command: Duration,
    /// For one connection, as part of the time of its request.
    pub connect: Duration,
}

/// The operating system. Nothing is loaded or started before it is asked for.
pub struct OsWorld {
    surroundings: Surroundings,
    limits: Limits,
    stop: Stop,
    shell: OnceLock<Option<Interpreter>>,
    agent: OnceLock<ureq::Agent>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { command: Duration::from_mins(5), connect: Duration::from_secs(10) }
    }
}

impl OsWorld {
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Self {
        Self::with_limits(surroundings, Limits::default())
    }

    #[must_use]
    pub fn with_limits(surroundings: Surroundings, limits: Limits) -> Self {
        let stop = Stop::new();
        Self { surroundings, limits, stop, shell: OnceLock::new(), agent: OnceLock::new() }
    }

    /// Lets commands end as soon as this says so.
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.surroundings.environment.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}

impl Probe for OsWorld {
    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        let Some(value) = self.variable(name) else { return Ok(None) };
        let text = value.to_str().ok_or_else(|| {
            Trouble::new(
                TroubleKind::NotText,
                format!("the environment variable `{name}` does not hold UTF-8 text"),
                format!("look at its bytes with `printenv {name} | od -c`, and set it anew"),
            )
        })?;
        Ok(Some(Secret::new(text)))
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble> {
        files::open(&self.surroundings, path).map(|file| Box::new(file) as Box<dyn Read>)
    }

    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble> {
        match run {
            Run::Script(parts) => shells::script(self, parts),
            Run::Program(words) => shells::program(self, words),
        }
    }

    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble> {
        http::get(self, request)
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn host(&self) -> Host {
        Host {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        }
    }
}

/// The names of the variables and never their values.
impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("environment", &self.environment.keys())
            .field("start", &self.start)
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
