//! The program of a source: its text with those of the files that it imports. Which import leads to which
//! file is said by `opal_plan::program`, as for a run; here is only who opens files.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};

use opal_core::{Registry, Span};
use opal_plan::Words;
use opal_plan::program::{Found, Identity, Missing, Open, Place, Program, Wanted, Whole, paths};
use opal_syntax::Parse;

use crate::disk::Stamp;

/// Texts by their paths: what is open comes before what is on the disk.
pub(crate) trait Sources {
    /// A path without links, if something is there.
    fn real(&self, path: &Path) -> io::Result<PathBuf>;
    /// The directory that imports of a file may not leave.
    fn top(&self, folder: &Path) -> PathBuf;
    /// Whether a path may be read.
    fn may_read(&self, real: &Path) -> bool;
    /// At most `limit` bytes and one.
    fn bytes(&self, real: &Path, limit: u64) -> io::Result<Vec<u8>>;
    fn identity(&self, real: &Path) -> Identity;
    fn stamp(&self, real: &Path) -> Stamp;
    /// As people know it.
    fn shown(&self, real: &Path) -> PathBuf;
}

/// A program that can be checked.
#[derive(Debug)]
pub(crate) struct Linked {
    pub(crate) text: String,
    pub(crate) parse: Parse,
    pub(crate) program: Program,
    /// The source, then the files that it imports.
    pub(crate) parts: Vec<Part>,
    /// The files that it depends on, and how they were.
    pub(crate) depends_on: BTreeMap<PathBuf, Stamp>,
}

/// A file in the text of the program.
#[derive(Debug)]
pub(crate) struct Part {
    /// None of files of packages, which are not files of the project.
    pub(crate) path: Option<PathBuf>,
    pub(crate) span: Span,
}

impl Linked {
    /// The program of `text`, which is the file `path`.
    pub(crate) fn of(path: &Path, text: &str, sources: &dyn Sources, registry: &Registry) -> Self {
        let mut parse = opal_syntax::parse(text, &Words(registry));
        let (mut text, mut program) = (text.to_owned(), Program::default());
        let own = Part { path: Some(path.to_owned()), span: Span::new(0, text.len() as u32) };
        let mut opener = Opener { path, sources, top: None, depends_on: BTreeMap::new() };
        let whole = Whole { text: &mut text, parse: &mut parse, is_selection: false };
        let Ok(()) = program.link(whole, Wanted::Everything, registry, &mut opener);
        // Nothing is known of the environment: whatever a file of variables asks for may be there.
        program.check_variables(&|_| Some("".into()));
        // Only their names matter, and those are asked for elsewhere.
        program.variables.clear();
        let others = program.files.iter().skip(1);
        let others = others.map(|file| Part { path: file.path.clone(), span: file.span });
        let parts = std::iter::once(own).chain(others).collect();
        Self { parts, text, parse, depends_on: opener.depends_on, program }
    }
}

struct Opener<'o> {
    path: &'o Path,
    sources: &'o dyn Sources,
    /// Known once something is opened.
    top: Option<PathBuf>,
    depends_on: BTreeMap<PathBuf, Stamp>,
}

impl Opener<'_> {
    fn depend(&mut self, path: &Path, stamp: Stamp) {
        self.depends_on.entry(path.to_owned()).or_insert(stamp);
    }
}

impl Open for Opener<'_> {
    type Stop = Infallible;

    fn source(&mut self) -> Place {
        Place {
            name: self.sources.shown(self.path),
            path: self.path.to_owned(),
            identity: self.sources.identity(self.path),
        }
    }

    fn open(
        &mut self,
        folder: &Path,
        path: &Path,
        limit: u64,
    ) -> Result<Found, Missing<Infallible>> {
        // A document that is not a file is in no directory.
        let Some(own) = self.path.parent().filter(|it| it.is_absolute()) else {
            return Err(Missing::Unknown);
        };
        let top = &*self.top.get_or_insert_with(|| self.sources.top(own));
        let whole = paths::named(top, folder, path)?;
        // The project goes on outside the workspace; nothing there is opened.
        if !self.sources.may_read(&paths::normal(&whole)) {
            return Err(Missing::Unknown);
        }
        let outside = |real: &Path| !real.starts_with(top);
        let real = match self.sources.real(&whole) {
            Ok(real) if outside(&real) => return Err(paths::outside(path, Some(top))),
            Ok(real) => real,
            Err(error) => {
                self.depend(&whole, Stamp::Missing);
                return Err(paths::unread(path, &error));
            }
        };
        if !self.sources.may_read(&real) {
            return Err(Missing::Unknown);
        }
        self.depend(&real, self.sources.stamp(&real));
        let bytes = self.sources.bytes(&real, limit);
        let bytes = bytes.map_err(|error| paths::unread(path, &error))?;
        Ok(Found { bytes, identity: self.sources.identity(&real), path: real })
    }
}
