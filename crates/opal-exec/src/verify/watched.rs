//! A machine that answers only as long as there is time.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use opal_core::class::Flags;
use opal_core::decorator::Exposure;
use opal_core::files::Entry;
use opal_core::hash::Digest;
use opal_core::inventory::{Entries, Inventory, Wanted};
use opal_core::resolver::{Answer, Ask, Host, Links, Port, Probe, Request, Run, Trouble};
use opal_core::tree::{Found, Part, TreeEntry, TreeLimits};
use opal_core::{Class, Data, Secret};

use crate::error::StepError;
use opal_session::stop::{Order, Stop};
use opal_vault::Vault;

pub(super) struct Watched<'a> {
    inner: Box<dyn Probe + 'a>,
    stop: &'a Stop,
    read: Mutex<Vec<Variable>>,
}

/// A variable of the environment that a verification has read: what it finds may contain it.
#[derive(Debug)]
pub(crate) struct Variable {
    name: String,
    value: Secret,
}

impl Variable {
    /// It was read on `target`, or on opal's machine.
    pub(crate) fn hide(self, vault: &Vault, target: Option<&str>) {
        let value = Data::Text(self.value);
        let class = Class::of(Exposure::Plain, Flags::default(), Some(&self.name), Some(&value));
        if class.is_secret() {
            let label = format!("🔒 env.{}", self.name);
            match target {
                // Of what is too much, all is hidden everywhere.
                Some(target) => drop(vault.register_on(target, &value, &label)),
                None => vault.register(&value, &label),
            }
        }
    }
}

impl<'a> Watched<'a> {
    pub(super) fn new(inner: Box<dyn Probe + 'a>, stop: &'a Stop) -> Self {
        Self { inner, stop, read: Mutex::default() }
    }

    pub(super) fn into_read(self) -> Vec<Variable> {
        self.read.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on(&self) -> Result<(), Trouble> {
        match self.stop.order() {
            Order::GoOn => Ok(()),
            Order::End { .. } | Order::Kill => Err(StepError::VerificationStopped.into()),
        }
    }

    fn watch(&self, inner: Box<dyn Read>) -> Box<dyn Read> {
        Box::new(Reading { inner, stop: self.stop.clone() })
    }
}

/// What is long, or never ends.
struct Reading {
    inner: Box<dyn Read>,
    stop: Stop,
}

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.order() != Order::GoOn {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.inner.read(into)
    }
}

impl Probe for Watched<'_> {
    fn is_stopped(&self) -> bool {
        self.go_on().is_err()
    }

    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        let found = self.inner.env(name)?;
        if let Some(value) = found.clone() {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.push(Variable { name: name.to_owned(), value });
        }
        Ok(found)
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble> {
        self.go_on()?;
        self.inner.open(path).map(|file| self.watch(file))
    }

    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble> {
        self.go_on()?;
        self.inner.run(run)
    }

    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble> {
        self.go_on()?;
        self.inner.get(request)
    }

    fn connect(&self, port: &Port<'_>) -> Result<(), Trouble> {
        self.go_on()?;
        self.inner.connect(port)
    }

    fn now(&self) -> SystemTime {
        self.inner.now()
    }

    fn host(&self) -> Host {
        self.inner.host()
    }

    fn caller(&self) -> PathBuf {
        self.inner.caller()
    }

    fn place(&self, path: &str) -> Result<PathBuf, Trouble> {
        self.inner.place(path)
    }

    fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble> {
        self.go_on()?;
        self.inner.stat(path)
    }

    fn read(&self, path: &Path, links: Links<'_>) -> Result<Box<dyn Read>, Trouble> {
        self.go_on()?;
        self.inner.read(path, links).map(|file| self.watch(file))
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble> {
        self.go_on()?;
        self.inner.read_link(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble> {
        self.go_on()?;
        self.inner.list(path)
    }

    fn digest(&self, path: &Path, links: Links<'_>) -> Result<Digest, Trouble> {
        self.go_on()?;
        self.inner.digest(path, links)
    }

    fn parts(&self, root: &Path, parts: &[Part]) -> Result<Vec<Option<Found>>, Trouble> {
        self.go_on()?;
        self.inner.parts(root, parts)
    }

    fn tree(&self, path: &Path, limits: &TreeLimits) -> Result<Vec<TreeEntry>, Trouble> {
        self.go_on()?;
        self.inner.tree(path, limits)
    }

    fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        self.go_on()?;
        self.inner.ask(ask)
    }

    fn inventory(&self, wanted: &Wanted<'_>) -> Result<Inventory, Trouble> {
        self.go_on()?;
        self.inner.inventory(wanted)
    }

    fn entries(&self) -> Option<&dyn Entries> {
        self.inner.entries()
    }

    fn within(&self, directory: &str) -> Box<dyn Probe + '_> {
        self.inner.within(directory)
    }

    fn origin(&self) -> Option<Box<dyn Probe + '_>> {
        self.inner.origin()
    }
}
