//! A target that can only run commands has nothing to be read by.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use opal_core::Secret;
use opal_core::files::Entry;
use opal_core::resolver::{Answer, Ask, Host, Links, Port, Probe, Request, Run, Trouble};

use super::refused;

pub(super) struct NoProbe {
    pub(super) target: String,
    pub(super) directory: PathBuf,
    pub(super) host: Host,
}

impl NoProbe {
    fn no<T>(&self) -> Result<T, Trouble> {
        Err(refused(&self.target, "reading its state"))
    }
}

impl Probe for NoProbe {
    fn env(&self, _: &str) -> Result<Option<Secret>, Trouble> {
        self.no()
    }

    fn open(&self, _: &str) -> Result<Box<dyn Read>, Trouble> {
        self.no()
    }

    fn run(&self, _: &Run<'_>) -> Result<Secret, Trouble> {
        self.no()
    }

    fn get(&self, _: &Request<'_>) -> Result<Secret, Trouble> {
        self.no()
    }

    fn connect(&self, _: &Port<'_>) -> Result<(), Trouble> {
        self.no()
    }

    fn now(&self) -> SystemTime {
        opal_session::clock::now()
    }

    fn host(&self) -> Host {
        self.host.clone()
    }

    fn caller(&self) -> PathBuf {
        self.directory.clone()
    }

    fn place(&self, _: &str) -> Result<PathBuf, Trouble> {
        self.no()
    }

    fn stat(&self, _: &Path) -> Result<Option<Entry>, Trouble> {
        self.no()
    }

    fn read(&self, _: &Path, _: Links<'_>) -> Result<Box<dyn Read>, Trouble> {
        self.no()
    }

    fn read_link(&self, _: &Path) -> Result<PathBuf, Trouble> {
        self.no()
    }

    fn list(&self, _: &Path) -> Result<Vec<OsString>, Trouble> {
        self.no()
    }

    fn ask(&self, _: &Ask<'_>) -> Result<Answer, Trouble> {
        self.no()
    }

    fn within(&self, _: &str) -> Box<dyn Probe + '_> {
        let Self { target, directory, host } = self;
        let (target, directory, host) = (target.clone(), directory.clone(), host.clone());
        Box::new(Self { target, directory, host })
    }
}
