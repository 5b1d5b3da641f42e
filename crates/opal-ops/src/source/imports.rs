//! Reading the files that a source imports.
//!
//! Every file is opened once, below a descriptor of the project's directory: the nearest one with
//! `opal.mod` or `.git` in it. The text of each follows that of the source, so a place in one of them is
//! a place in the text of all.
//!
//! Deliberately not here: what their names mean, which `opal_plan::check` says.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Registry, Secret, Span};
use opal_files::trusted::{Trust, Untrusted};
use opal_plan::unit::{FileLinks, Import, ImportKind, Links, Unit};
use opal_plan::{Words, lower};
use opal_syntax::{Parse, source};

use super::project::{Found, Missing, PROJECT_FILE, Project, seen_from, shown};
use super::{Form, Loaded, reach};

/// What has been read of the imports of a source.
#[derive(Debug, Default)]
pub struct Imports {
    /// In the order of their texts.
    pub files: Vec<ImportedFile>,
    pub links: Links,
    /// What is wrong with the imports themselves.
    pub errors: Vec<Diagnostic>,
    /// The files of variables that the source imports, in order.
    pub variables: Vec<VariablesFile>,
    pub(super) has_variables: bool,
    project: Option<Project>,
    /// What is known of each file, the source first.
    pub(super) known: Vec<Known>,
    /// The packages whose decorators the files that have been read name.
    pub packages: BTreeSet<&'static str>,
    /// How many files have been searched for those.
    pub(super) searched: usize,
    /// Functions that have been followed: the number of the file and the name.
    followed: BTreeSet<(usize, String)>,
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

/// Bytes that a file of variables may have.
pub const MAX_VARIABLES_BYTES: u64 = 1024 * 1024;

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

/// A file that has been read.
#[derive(Debug)]
pub(super) struct Known {
    /// As it is in its own text.
    pub(super) unit: Unit,
    /// Where its text begins in the text of all.
    pub(super) start: u32,
    /// As the user knows it.
    pub(super) path: PathBuf,
    /// Its directory, without symlinks.
    pub(super) folder: PathBuf,
    /// Device and number: a file has one text, whatever it is called.
    pub(super) identity: (u64, u64),
}

impl Loaded {
    /// Reads files that the source imports. What is wrong with them is kept in
    /// [`Imports::errors`]; only a file that others may have written stops it.
    pub fn import(&mut self, wanted: Wanted<'_>, how: &How<'_>) -> Result<(), Untrusted> {
        self.import_files(wanted, how)?;
        self.import_packages(how);
        Ok(())
    }

    fn import_files(&mut self, wanted: Wanted<'_>, how: &How<'_>) -> Result<(), Untrusted> {
        let Form::Language(parse) = &self.form else { return Ok(()) };
        if self.imports.known.is_empty() {
            if lower::imports(parse, &self.text).is_empty() {
                return Ok(());
            }
            self.begin(how);
        }
        let mut importer = Importer { loaded: self, how };
        if matches!(wanted, Wanted::Everything | Wanted::Target(_)) {
            importer.variables()?;
        }
        match wanted {
            Wanted::Everything | Wanted::Functions => importer.everything(),
            Wanted::Namespace(namespace) => importer.namespace(0, namespace).map(drop),
            Wanted::Target(None) => {
                let mut calls = Vec::new();
                reach::calls(&importer.loaded.imports.known[0].unit.script, &mut calls);
                let calls = calls.into_iter().map(|name| (0, name.to_owned())).collect();
                importer.follow(calls)
            }
            Wanted::Target(Some(name)) => importer.follow(vec![(0, name.to_owned())]),
        }
    }

    pub(super) fn begin(&mut self, how: &How<'_>) {
        let Form::Language(parse) = &self.form else { return };
        let unit = lower::unit(parse, &self.text);
        let whole = (how.here)().join(&self.path);
        let whole = whole.canonicalize().unwrap_or(whole);
        let folder = whole.parent().unwrap_or(Path::new("/"));
        // The source of a task in several projects is not a file, but its directory is there.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let identity = whole.metadata().map_or((0, 0), |found| (found.dev(), found.ino()));
        let trust = if self.is_found { Trust::STRICT } else { Trust::like(&whole) };
        self.imports.project = Project::around(&folder, trust);
        let imports = vec![None; unit.imports.len()];
        self.imports.links.files = vec![FileLinks { imports, ..FileLinks::default() }];
        let path = self.path.clone();
        self.imports.known = vec![Known { unit, start: 0, path, folder, identity }];
    }
}

pub(super) struct Importer<'l, 'h> {
    pub(super) loaded: &'l mut Loaded,
    pub(super) how: &'l How<'h>,
}

impl Importer<'_, '_> {
    pub(super) fn known(&self, file: usize) -> &Known {
        &self.loaded.imports.known[file]
    }

    fn everything(&mut self) -> Result<(), Untrusted> {
        let mut file = 0;
        while file < self.loaded.imports.known.len() {
            for import in 0..self.known(file).unit.imports.len() {
                self.read(file, import)?;
            }
            file += 1;
        }
        Ok(())
    }

    /// Reads what these functions use, each with the file that names it.
    fn follow(&mut self, mut open: Vec<(usize, String)>) -> Result<(), Untrusted> {
        while let Some((file, name)) = open.pop() {
            let (file, name) = match name.split_once('.') {
                Some((namespace, rest)) => match self.namespace(file, namespace)? {
                    Some(file) => (file, rest.to_owned()),
                    None => continue,
                },
                None => (file, name),
            };
            let mut calls = Vec::new();
            let unit = &self.known(file).unit;
            reach::bodies(unit, &name).for_each(|body| reach::calls(body, &mut calls));
            let calls: Vec<String> = calls.into_iter().map(str::to_owned).collect();
            if self.loaded.imports.followed.insert((file, name)) {
                open.extend(calls.into_iter().map(|name| (file, name)));
            }
        }
        Ok(())
    }

    /// The file that a namespace means in `file`.
    fn namespace(&mut self, file: usize, namespace: &str) -> Result<Option<usize>, Untrusted> {
        let imports = &self.known(file).unit.imports;
        let found = imports.iter().position(|import| import.namespace() == Some(namespace));
        match found {
            Some(import) => self.read(file, import),
            None => Ok(None),
        }
    }

    /// Reads one import; none where it is not a file with functions, or there is an error.
    fn read(&mut self, file: usize, index: usize) -> Result<Option<usize>, Untrusted> {
        if let Some(known) = self.loaded.imports.links.files[file].imports[index] {
            return Ok(Some(known));
        }
        let import = self.known(file).unit.imports[index].clone();
        let Some(path) = import.path.as_deref().filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let is_project = match import.kind() {
            ImportKind::Variables => return Ok(None),
            kind => kind == ImportKind::Project,
        };
        let path = match is_project {
            true => Path::new(path).join(PROJECT_FILE),
            false => PathBuf::from(path),
        };
        match self.take(file, &path, is_project) {
            Ok(read) => {
                self.loaded.imports.links.files[file].imports[index] = Some(read);
                Ok(Some(read))
            }
            Err(missing) => self.missing(file, &import, missing).map(|()| None),
        }
    }

    /// Keeps what is wrong with an import.
    pub(super) fn missing(
        &mut self,
        file: usize,
        import: &Import,
        why: Missing,
    ) -> Result<(), Untrusted> {
        let (code, message, help) = match why {
            Missing::Untrusted(why) => return Err(why),
            Missing::Error(code, message, help) => (code, message, help),
            Missing::Absent(message) => {
                let help = "paths begin in the directory of the file that imports".to_owned();
                (Code::ImportNotFound, message, help)
            }
        };
        let (start, span) = (self.known(file).start, import.path_span);
        let span = Span::new(start + span.start, start + span.end);
        let error = Diagnostic::new(code, span, message).help(help);
        if !self.loaded.imports.errors.contains(&error) {
            self.loaded.imports.errors.push(error);
        }
        Ok(())
    }

    /// The number of the file at `path`, which `file` imports.
    fn take(&mut self, file: usize, path: &Path, is_project: bool) -> Result<usize, Missing> {
        let found = self.open(file, path, MAX_SOURCE_BYTES as u64)?;
        self.cycle(file, found.identity)?;
        let own = &self.known(0).folder;
        let directory = match is_project {
            true => Some(seen_from(own, &found.folder).display().to_string()),
            false => self.loaded.imports.links.files[file].directory.clone(),
        };
        let files = self.loaded.imports.known.iter().zip(&self.loaded.imports.links.files);
        let same = files.skip(1).position(|(known, links)| {
            let start = (&links.directory, links.is_project);
            known.identity == found.identity && start == (&directory, is_project)
        });
        if let Some(same) = same {
            return Ok(same + 1);
        }
        let shown = shown(&self.known(file).path, path);
        let text = source::decode(found.bytes).map_err(|why| {
            let message = format!("`{}`: {}", shown.display(), why.diagnostic.message);
            Missing::Error(why.diagnostic.code, message, why.diagnostic.help.join("; "))
        })?;
        if self.loaded.text.len() + text.len() >= MAX_SOURCE_BYTES {
            let message = "the source and its imports are larger than 16 MiB together".to_owned();
            let help = "move data out of the sources, into files that steps read".to_owned();
            return Err(Missing::Error(Code::TooLarge, message, help));
        }
        let parse = opal_syntax::parse(&text, &Words(self.how.registry));
        let unit = lower::unit(&parse, &text);
        let links = FileLinks {
            imports: vec![None; unit.imports.len()],
            directory,
            is_project,
            start: self.append(shown.clone(), parse, &text),
            package: None,
        };
        let (folder, identity, start) = (found.folder, found.identity, links.start);
        let known = Known { unit, start, path: shown, folder, identity };
        self.loaded.imports.known.push(known);
        self.loaded.imports.links.files.push(links);
        let number = self.loaded.imports.known.len() - 1;
        self.foreign_variables(number);
        Ok(number)
    }

    /// Puts the text of a file after the others; where it begins.
    pub(super) fn append(&mut self, path: PathBuf, parse: Parse, text: &str) -> u32 {
        let loaded = &mut *self.loaded;
        let source_end = match loaded.imports.files.first() {
            Some(first) => first.source_end,
            None => loaded.text.len(),
        };
        if let Form::Language(whole) = &mut loaded.form {
            whole.append(&mut loaded.text, parse, text);
        }
        let end = loaded.text.len() as u32;
        let span = Span::new(end - text.len() as u32, end);
        let name = path.display().to_string();
        loaded.imports.files.push(ImportedFile { path, name, span, source_end });
        span.start
    }

    /// No file imports itself, whatever is in between.
    fn cycle(&self, file: usize, imported: (u64, u64)) -> Result<(), Missing> {
        let Some(way) = self.way(imported, self.known(file).identity) else { return Ok(()) };
        let name = |file: &usize| self.known(*file).path.display().to_string();
        let names: Vec<String> = std::iter::once(&file).chain(&way).map(name).collect();
        let message = format!("import cycle: {}", names.join(" -> "));
        let help = "move what both need into a file of its own, which both import";
        Err(Missing::Error(Code::ImportCycle, message, help.to_owned()))
    }

    /// The files from one to another, by their imports.
    fn way(&self, from: (u64, u64), to: (u64, u64)) -> Option<Vec<usize>> {
        let Imports { known, links, .. } = &self.loaded.imports;
        let begins = (0..known.len()).filter(|file| known[*file].identity == from);
        let mut open: Vec<Vec<usize>> = begins.map(|file| vec![file]).collect();
        let mut seen = BTreeSet::new();
        while let Some(way) = open.pop() {
            let last = *way.last()?;
            if known[last].identity == to {
                return Some(way);
            }
            if seen.insert(last) {
                let next = links.files[last].imports.iter().flatten();
                open.extend(next.map(|next| [&way[..], &[*next]].concat()));
            }
        }
        None
    }

    /// Reads a file that `file` names; never more than `limit` bytes and one.
    pub(super) fn open(&self, file: usize, path: &Path, limit: u64) -> Result<Found, Missing> {
        match &self.loaded.imports.project {
            Some(project) => project.open(&self.known(file).folder, path, limit),
            None => Err(Missing::outside(path, None)),
        }
    }
}
