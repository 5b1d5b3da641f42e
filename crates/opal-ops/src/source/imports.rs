//! Reading the files that a source imports.
//!
//! Every file is opened once, below a descriptor of the project's directory. Which import leads to which
//! file is said by `opal_plan::program`.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use opal_core::{Registry, Span};
use opal_files::trusted::{Trust, Untrusted};
use opal_plan::program::{Found, Identity, Missing, Open, Place, Program, Whole, paths};

use super::project::Project;
use super::{Form, Loaded};

pub use opal_plan::program::{MAX_VARIABLES_BYTES, VariablesFile, Wanted};

/// What has been read of the imports of a source.
#[derive(Debug, Default)]
pub struct Imports {
    /// In the order of their texts.
    pub files: Vec<ImportedFile>,
    pub program: Program,
    project: Option<Project>,
}

#[derive(Debug)]
pub struct ImportedFile {
    pub path: PathBuf,
    /// As the user knows it.
    pub name: String,
    /// Of its text.
    pub span: Span,
    /// Where the text of the source ends.
    pub(super) source_end: usize,
}

/// How files are read.
#[derive(Clone, Copy)]
pub struct How<'h> {
    pub registry: &'h Registry,
    /// The directory of the process; asked for only where there are imports.
    pub here: &'h dyn Fn() -> PathBuf,
}

impl std::fmt::Debug for How<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("How").finish_non_exhaustive()
    }
}

impl Loaded {
    /// Reads files that the source imports. What is wrong with them is kept in the program's errors; only
    /// a file that others may have written stops it.
    pub fn import(&mut self, wanted: Wanted<'_>, how: &How<'_>) -> Result<(), Untrusted> {
        let Form::Language(parse) = &mut self.form else { return Ok(()) };
        let Imports { files, program, project } = &mut self.imports;
        let is_selection = self.selection.is_some();
        let mut opener =
            Opener { project, path: &self.path, is_found: self.is_found, here: how.here };
        let whole = Whole { text: &mut self.text, parse, is_selection };
        let linked = program.link(whole, wanted, how.registry, &mut opener);
        let Some((source, imported)) = program.files.split_first() else { return linked };
        let source_end = source.span.end as usize;
        files.extend(imported.iter().skip(files.len()).map(|file| {
            let (path, name) = (file.name.clone(), file.name.display().to_string());
            ImportedFile { path, name, span: file.span, source_end }
        }));
        linked
    }
}

/// Opens files of the project around a source.
struct Opener<'o> {
    project: &'o mut Option<Project>,
    path: &'o Path,
    is_found: bool,
    here: &'o dyn Fn() -> PathBuf,
}

impl Open for Opener<'_> {
    type Stop = Untrusted;

    fn source(&mut self) -> Place {
        let whole = (self.here)().join(self.path);
        let whole = whole.canonicalize().unwrap_or(whole);
        let folder = whole.parent().unwrap_or(Path::new("/"));
        // The source of a task in several projects is not a file, but its directory is there.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let path = whole.file_name().map_or_else(|| whole.clone(), |name| folder.join(name));
        let identity = match whole.metadata() {
            Ok(found) => Identity::File { device: found.dev(), number: found.ino() },
            Err(_) => Identity::Text(path.clone()),
        };
        let trust = if self.is_found { Trust::STRICT } else { Trust::like(&whole) };
        *self.project = Project::around(&folder, trust);
        Place { name: self.path.to_owned(), path, identity }
    }

    fn open(
        &mut self,
        folder: &Path,
        path: &Path,
        limit: u64,
    ) -> Result<Found, Missing<Untrusted>> {
        match &self.project {
            Some(project) => project.open(folder, path, limit),
            None => Err(paths::outside(path, None)),
        }
    }
}
