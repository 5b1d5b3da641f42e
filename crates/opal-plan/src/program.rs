//! A source with the files that it imports, as one program: which import leads to which file.
//!
//! The text of each file follows that of the source, so a place in one of them is a place in the text of
//! all. A run and an editor link a program by the same code; they differ in who opens files ([`Open`]).
//!
//! | what | where |
//! |---|---|
//! | imports: reading them, cycles | `program::imports` |
//! | files of variables | `program::variables` |
//! | files of packages whose decorators it names | `program::packages` |
//! | which files a target uses | `program::reach` |
//! | paths, and what may be opened | [`paths`] |
//!
//! Deliberately not here: opening files, and what names mean, which [`crate::check`] says.

mod imports;
mod packages;
pub mod paths;
mod reach;
mod variables;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use opal_core::{Code, Diagnostic, Registry, Secret, Span};
use opal_syntax::Parse;

use crate::lower;
use crate::unit::{FileLinks, Links, Unit};

/// Bytes that a file of variables may have.
pub const MAX_VARIABLES_BYTES: u64 = 1024 * 1024;

/// What is read.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'w> {
    Everything,
    /// All files with functions.
    Functions,
    /// The file of this namespace.
    Namespace(&'w str),
    /// What the function uses, or the script where there is none.
    Target(Option<&'w str>),
}

/// Which file it is: a file has one text, whatever it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    File {
        device: u64,
        number: u64,
    },
    /// A text that is not in a file.
    Text(PathBuf),
    /// A file of a package. It is not a file of the project, whatever is at its path.
    Package(usize),
}

/// Where a source or an imported file is.
#[derive(Clone, Debug)]
pub struct Place {
    /// As the user knows it.
    pub name: PathBuf,
    /// Without symlinks. The directory is there, even where the file is not.
    pub path: PathBuf,
    pub identity: Identity,
}

/// A file that is open.
#[derive(Debug)]
pub struct Found {
    pub bytes: Vec<u8>,
    /// Without symlinks.
    pub path: PathBuf,
    pub identity: Identity,
}

/// Why an import is not there. `S` stops everything.
#[derive(Debug)]
pub enum Missing<S> {
    /// With the message and what helps.
    Error(Code, String, String),
    /// Nothing is there: the message.
    Absent(String),
    /// Whoever opens files may not see it, so nothing is said about it.
    Unknown,
    Stop(S),
}

/// Whoever opens files.
pub trait Open {
    /// What makes reading stop.
    type Stop;

    /// Where the source is. Asked once, and only where it imports something.
    fn source(&mut self) -> Place;

    /// Reads a file that a file in `folder` names; never more than `limit` bytes and one.
    fn open(
        &mut self,
        folder: &Path,
        path: &Path,
        limit: u64,
    ) -> Result<Found, Missing<Self::Stop>>;
}

/// A file of variables.
#[derive(Debug)]
pub struct VariablesFile {
    /// As the user knows it.
    pub name: String,
    pub text: Secret,
    /// Where the source names it.
    pub span: Span,
}

/// A file of the program that has been read.
#[derive(Debug)]
pub struct ProgramFile {
    /// As the user knows it.
    pub name: PathBuf,
    /// Without symlinks; none of files of packages.
    pub path: Option<PathBuf>,
    /// Of its text, in the text of all.
    pub span: Span,
    /// Its directory, without symlinks.
    folder: PathBuf,
    identity: Identity,
    /// As it is in its own text.
    unit: Unit,
}

/// What has been read of the imports of a source.
#[derive(Debug, Default)]
pub struct Program {
    /// The source, then the other files in the order of their texts; empty where it imports nothing.
    pub files: Vec<ProgramFile>,
    pub links: Links,
    /// What is wrong with the imports themselves.
    pub errors: Vec<Diagnostic>,
    /// The files of variables that the source imports, in order.
    pub variables: Vec<VariablesFile>,
    /// The packages whose decorators the files that have been read name.
    pub packages: BTreeSet<&'static str>,
    has_variables: bool,
    /// How many files have been searched for decorators of packages.
    searched: usize,
    /// Functions that have been followed: the number of the file and the name.
    followed: BTreeSet<(usize, String)>,
}

/// A text that grows by those of the files that it imports.
#[derive(Debug)]
pub struct Whole<'w> {
    pub text: &'w mut String,
    pub parse: &'w mut Parse,
    /// It was made of several projects, so nobody can change what it imports.
    pub is_selection: bool,
}

impl Program {
    /// Reads files that the source imports. What is wrong with them is kept in [`Program::errors`].
    pub fn link<O: Open>(
        &mut self,
        whole: Whole<'_>,
        wanted: Wanted<'_>,
        registry: &Registry,
        open: &mut O,
    ) -> Result<(), O::Stop> {
        if self.files.is_empty() {
            let imports_nothing = lower::imports(whole.parse, whole.text).is_empty();
            if imports_nothing && !registry.has_packages() {
                return Ok(());
            }
            self.begin(&whole, open.source());
        }
        let mut linker = Linker { program: self, whole, registry, open, taken: 0 };
        if !linker.file(0).unit.imports.is_empty() {
            linker.imports(wanted)?;
        }
        linker.packages();
        Ok(())
    }

    fn begin(&mut self, whole: &Whole<'_>, source: Place) {
        let unit = lower::unit(whole.parse, whole.text);
        let imports = vec![None; unit.imports.len()];
        self.links.files = vec![FileLinks { imports, ..FileLinks::default() }];
        let Place { name, path, identity } = source;
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let span = Span::new(0, whole.text.len() as u32);
        let path = Some(path);
        self.files = vec![ProgramFile { name, path, span, folder, identity, unit }];
    }
}

struct Linker<'l, O: Open> {
    program: &'l mut Program,
    whole: Whole<'l>,
    registry: &'l Registry,
    open: &'l mut O,
    /// How many imports were read.
    taken: usize,
}

impl<O: Open> Linker<'_, O> {
    fn file(&self, file: usize) -> &ProgramFile {
        &self.program.files[file]
    }

    /// Puts the text of a file after the others; its number.
    fn append(
        &mut self,
        (text, parse, unit): (&str, Parse, Unit),
        (name, path): (PathBuf, Option<PathBuf>),
        (folder, identity): (PathBuf, Identity),
        links: FileLinks,
    ) -> usize {
        self.whole.parse.append(self.whole.text, parse, text);
        let end = self.whole.text.len() as u32;
        let span = Span::new(end - text.len() as u32, end);
        self.program.files.push(ProgramFile { name, path, span, folder, identity, unit });
        self.program.links.files.push(FileLinks { start: span.start, ..links });
        self.program.files.len() - 1
    }
}
