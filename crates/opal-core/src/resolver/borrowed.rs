//! A world that somebody else has.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Answer, Ask, Host, Links, Port, Probe, Request, Run, Trouble};
use crate::crossing::Crossing;
use crate::data::Secret;
use crate::files::Entry;
use crate::hash::Digest;
use crate::inventory::{Entries, Inventory, Wanted};
use crate::tree::{Found, Part, TreeEntry, TreeLimits};

impl<P: Probe + ?Sized> Probe for &P {
    fn declared(&self) -> Vec<String> {
        (**self).declared()
    }

    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        (**self).env(name)
    }

    fn is_stopped(&self) -> bool {
        (**self).is_stopped()
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble> {
        (**self).open(path)
    }

    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble> {
        (**self).run(run)
    }

    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble> {
        (**self).get(request)
    }

    fn connect(&self, port: &Port<'_>) -> Result<(), Trouble> {
        (**self).connect(port)
    }

    fn now(&self) -> SystemTime {
        (**self).now()
    }

    fn host(&self) -> Host {
        (**self).host()
    }

    fn caller(&self) -> PathBuf {
        (**self).caller()
    }

    fn place(&self, path: &str) -> Result<PathBuf, Trouble> {
        (**self).place(path)
    }

    fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble> {
        (**self).stat(path)
    }

    fn read(&self, path: &Path, links: Links<'_>) -> Result<Box<dyn Read>, Trouble> {
        (**self).read(path, links)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble> {
        (**self).read_link(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble> {
        (**self).list(path)
    }

    fn digest(&self, path: &Path, links: Links<'_>) -> Result<Digest, Trouble> {
        (**self).digest(path, links)
    }

    fn parts(&self, root: &Path, parts: &[Part]) -> Result<Vec<Option<Found>>, Trouble> {
        (**self).parts(root, parts)
    }

    fn tree(&self, path: &Path, limits: &TreeLimits) -> Result<Vec<TreeEntry>, Trouble> {
        (**self).tree(path, limits)
    }

    fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        (**self).ask(ask)
    }

    fn inventory(&self, wanted: &Wanted<'_>) -> Result<Inventory, Trouble> {
        (**self).inventory(wanted)
    }

    fn entries(&self) -> Option<&dyn Entries> {
        (**self).entries()
    }

    fn within(&self, directory: &str) -> Box<dyn Probe + '_> {
        (**self).within(directory)
    }

    fn origin(&self) -> Option<Box<dyn Probe + '_>> {
        (**self).origin()
    }

    fn reach(&self, way: &[Crossing]) -> Result<Box<dyn Probe + '_>, Trouble> {
        (**self).reach(way)
    }
}
