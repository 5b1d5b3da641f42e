//! The program of a source: its text with those of the files that it imports, linked as a run links them.

mod packages;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Registry, Span};
use opal_plan::unit::{FileLinks, Import, ImportKind, Links, Unit};
use opal_plan::{Words, lower};
use opal_syntax::Parse;
use opal_syntax::source::NoText;

use crate::disk::Stamp;

/// The file of a project that is imported by its directory.
const PROJECT_FILE: &str = "commands.opl";
/// Bytes that a file of variables may have.
const MAX_VARIABLES_BYTES: u64 = 1024 * 1024;

/// Texts by their paths: what is open comes before what is on the disk.
pub(crate) trait Sources {
    /// A path without links, if something is there.
    fn real(&self, path: &Path) -> std::io::Result<PathBuf>;
    /// The directory that imports of a file may not leave.
    fn top(&self, folder: &Path) -> PathBuf;
    /// Whether a path may be read.
    fn may_read(&self, real: &Path) -> bool;
    fn text(&self, real: &Path, limit: u64) -> std::io::Result<Result<Arc<str>, Box<NoText>>>;
    fn stamp(&self, real: &Path) -> Stamp;
    /// As people know it.
    fn shown(&self, real: &Path) -> PathBuf;
}

/// A program that can be checked.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) parse: Parse,
    pub(crate) links: Links,
    /// What is wrong with the imports themselves.
    pub(crate) errors: Vec<Diagnostic>,
    /// The source, then the files that it imports.
    pub(crate) files: Vec<ProgramFile>,
    /// What was looked at, and how it was then.
    pub(crate) looked_at: Vec<(PathBuf, Stamp)>,
}

#[derive(Debug)]
pub(crate) struct ProgramFile {
    /// None of files of packages, which are not files of the project.
    pub(crate) path: Option<PathBuf>,
    /// As people know it.
    pub(crate) name: PathBuf,
    folder: PathBuf,
    pub(crate) start: u32,
    pub(crate) len: u32,
    /// As it is in its own text.
    unit: Unit,
}

/// Why an import is not there.
enum Missing {
    Error(Code, String, String),
    Absent(String),
    /// It is outside the workspace: nothing is known about it.
    Unknown,
}

impl Program {
    /// The program of `text`, which is the file `path`.
    pub(crate) fn of(path: &Path, text: &str, sources: &dyn Sources, registry: &Registry) -> Self {
        let parse = opal_syntax::parse(text, &Words(registry));
        let mut program = Self {
            text: text.to_owned(),
            links: Links::default(),
            errors: Vec::new(),
            files: Vec::new(),
            looked_at: Vec::new(),
            parse,
        };
        if lower::imports(&program.parse, text).is_empty() && !registry.has_packages() {
            let (unit, folder, name) = (Unit::default(), PathBuf::new(), PathBuf::new());
            let len = text.len() as u32;
            let path = Some(path.to_owned());
            program.files.push(ProgramFile { path, name, folder, start: 0, len, unit });
            return program;
        }
        program.begin(path, sources);
        let mut linker =
            Linker { top: sources.top(&program.files[0].folder), program, sources, registry };
        linker.variables();
        linker.everything();
        linker.packages();
        linker.program
    }

    fn begin(&mut self, path: &Path, sources: &dyn Sources) {
        let unit = lower::unit(&self.parse, &self.text);
        let imports = vec![None; unit.imports.len()];
        self.links.files = vec![FileLinks { imports, ..FileLinks::default() }];
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let (name, len) = (sources.shown(path), self.text.len() as u32);
        let path = Some(path.to_owned());
        self.files.push(ProgramFile { path, name, folder, start: 0, len, unit });
    }
}

struct Linker<'l> {
    program: Program,
    sources: &'l dyn Sources,
    registry: &'l Registry,
    top: PathBuf,
}

impl Linker<'_> {
    fn file(&self, file: usize) -> &ProgramFile {
        &self.program.files[file]
    }

    fn everything(&mut self) {
        let mut file = 0;
        while file < self.program.files.len() {
            for import in 0..self.file(file).unit.imports.len() {
                self.read(file, import);
            }
            file += 1;
        }
    }

    fn read(&mut self, file: usize, index: usize) {
        let import = self.file(file).unit.imports[index].clone();
        let Some(path) = import.path.as_deref().filter(|path| !path.is_empty()) else { return };
        let is_project = match import.kind() {
            ImportKind::Variables => return,
            kind => kind == ImportKind::Project,
        };
        let path = match is_project {
            true => Path::new(path).join(PROJECT_FILE),
            false => PathBuf::from(path),
        };
        match self.take(file, &path, is_project) {
            Ok(read) => self.program.links.files[file].imports[index] = Some(read),
            Err(missing) => self.missing(file, &import, missing),
        }
    }

    fn missing(&mut self, file: usize, import: &Import, why: Missing) {
        let (code, message, help) = match why {
            Missing::Unknown => return,
            Missing::Error(code, message, help) => (code, message, help),
            Missing::Absent(message) => {
                let help = "paths begin in the directory of the file that imports".to_owned();
                (Code::ImportNotFound, message, help)
            }
        };
        let (start, span) = (self.file(file).start, import.path_span);
        let span = Span::new(start + span.start, start + span.end);
        let error = Diagnostic::new(code, span, message).help(help);
        if !self.program.errors.contains(&error) {
            self.program.errors.push(error);
        }
    }

    /// Reads what a file names, within the project.
    fn open(&mut self, file: usize, path: &Path, limit: u64) -> Result<(PathBuf, Read), Missing> {
        let whole = self.file(file).folder.join(path);
        let outside = || {
            let message = format!("`{}` is outside the project", path.display());
            let top = self.top.display();
            let help = format!("import files below `{top}`, the top of the project");
            Missing::Error(Code::ImportOutside, message, help)
        };
        if path.is_absolute() || !normal(&whole).starts_with(&self.top) {
            return Err(outside());
        }
        let real = match self.sources.real(&whole) {
            Ok(real) => real,
            Err(error) => {
                self.program.looked_at.push((whole, Stamp::Missing));
                return Err(unread(path, &error));
            }
        };
        if !real.starts_with(&self.top) {
            return Err(outside());
        }
        if !self.sources.may_read(&real) {
            return Err(Missing::Unknown);
        }
        let stamp = self.sources.stamp(&real);
        if !self.program.looked_at.iter().any(|(known, _)| *known == real) {
            self.program.looked_at.push((real.clone(), stamp));
        }
        let text = self.sources.text(&real, limit).map_err(|error| unread(path, &error))?;
        Ok((real, text))
    }

    /// The number of the file at `path`, which `file` imports.
    fn take(&mut self, file: usize, path: &Path, is_project: bool) -> Result<usize, Missing> {
        let (real, text) = self.open(file, path, MAX_SOURCE_BYTES as u64)?;
        self.cycle(file, &real)?;
        let folder = real.parent().unwrap_or(Path::new("/")).to_owned();
        let directory = match is_project {
            true => Some(seen_from(&self.file(0).folder, &folder).display().to_string()),
            false => self.program.links.files[file].directory.clone(),
        };
        let files = self.program.files.iter().zip(&self.program.links.files);
        let same = files.skip(1).position(|(known, links)| {
            let start = (&links.directory, links.is_project);
            known.path.as_ref() == Some(&real) && start == (&directory, is_project)
        });
        if let Some(same) = same {
            return Ok(same + 1);
        }
        let importer = self.file(file).name.parent().unwrap_or(Path::new("")).to_owned();
        let name = normal(&importer.join(path));
        let text = text.map_err(|why| {
            let message = format!("`{}`: {}", name.display(), why.diagnostic.message);
            Missing::Error(why.diagnostic.code, message, why.diagnostic.help.join("; "))
        })?;
        if self.program.text.len() + text.len() >= MAX_SOURCE_BYTES {
            let message = "the source and its imports are larger than 16 MiB together".to_owned();
            let help = "move data out of the sources, into files that steps read".to_owned();
            return Err(Missing::Error(Code::TooLarge, message, help));
        }
        let parse = opal_syntax::parse(&text, &Words(self.registry));
        let unit = lower::unit(&parse, &text);
        let links = FileLinks {
            imports: vec![None; unit.imports.len()],
            directory,
            is_project,
            ..FileLinks::default()
        };
        let number = self.append(parse, &text, links, (Some(real), name, folder, unit));
        self.foreign_variables(number);
        Ok(number)
    }

    /// Puts the text of a file after the others; its number.
    fn append(
        &mut self,
        parse: Parse,
        text: &str,
        links: FileLinks,
        (path, name, folder, unit): (Option<PathBuf>, PathBuf, PathBuf, Unit),
    ) -> usize {
        self.program.parse.append(&mut self.program.text, parse, text);
        let len = text.len() as u32;
        let start = self.program.text.len() as u32 - len;
        self.program.files.push(ProgramFile { path, name, folder, start, len, unit });
        self.program.links.files.push(FileLinks { start, ..links });
        self.program.files.len() - 1
    }

    /// No file imports itself, whatever is in between.
    fn cycle(&self, file: usize, imported: &Path) -> Result<(), Missing> {
        let Some(importing) = self.file(file).path.as_deref() else { return Ok(()) };
        let Some(way) = self.way(imported, importing) else { return Ok(()) };
        let name = |file: &usize| self.file(*file).name.display().to_string();
        let names: Vec<String> = std::iter::once(&file).chain(&way).map(name).collect();
        let message = format!("import cycle: {}", names.join(" -> "));
        let help = "move what both need into a file of its own, which both import";
        Err(Missing::Error(Code::ImportCycle, message, help.to_owned()))
    }

    /// The files from one to another, by their imports.
    fn way(&self, from: &Path, to: &Path) -> Option<Vec<usize>> {
        let Program { files, links, .. } = &self.program;
        let is = |file: usize, path: &Path| files[file].path.as_deref() == Some(path);
        let begins = (0..files.len()).filter(|file| is(*file, from));
        let mut open: Vec<Vec<usize>> = begins.map(|file| vec![file]).collect();
        let mut seen = vec![false; files.len()];
        while let Some(way) = open.pop() {
            let last = *way.last()?;
            if is(last, to) {
                return Some(way);
            }
            if !std::mem::replace(&mut seen[last], true) {
                let next = links.files[last].imports.iter().flatten();
                open.extend(next.map(|next| [&way[..], &[*next]].concat()));
            }
        }
        None
    }

    /// The files of variables that the source imports: only whether they can be read. Nothing keeps
    /// what is in them.
    fn variables(&mut self) {
        for import in self.variables_of(0) {
            let Some(path) = import.path.as_deref() else { continue };
            let name = normal(Path::new(path)).display().to_string();
            match self.open(0, Path::new(path), MAX_VARIABLES_BYTES) {
                Ok((_, Ok(text))) if text.len() as u64 <= MAX_VARIABLES_BYTES => {}
                Ok((_, Ok(_))) => {
                    let help = "a file of variables is short: is it the right one?".to_owned();
                    let message = format!("`{name}` is larger than 1 MiB");
                    let why = Missing::Error(Code::VariablesFile, message, help);
                    self.missing(0, &import, why);
                }
                Ok((_, Err(_))) => {
                    let help = "save the file as UTF-8 text".to_owned();
                    let message = format!("`{name}` is not UTF-8");
                    let why = Missing::Error(Code::VariablesFile, message, help);
                    self.missing(0, &import, why);
                }
                Err(Missing::Absent(_)) if import.optional => {}
                Err(missing) => self.missing(0, &import, missing),
            }
        }
    }

    fn variables_of(&self, file: usize) -> Vec<Import> {
        let imports = self.file(file).unit.imports.iter();
        imports.filter(|it| it.kind() == ImportKind::Variables).cloned().collect()
    }

    /// What an imported file says about variables counts only where the source says it too.
    fn foreign_variables(&mut self, file: usize) {
        let place = |linker: &Self, file: usize, import: &Import| {
            let path = import.path.as_deref().unwrap_or_default();
            normal(&linker.file(file).folder.join(path))
        };
        let own: Vec<_> = self.variables_of(0).iter().map(|it| place(self, 0, it)).collect();
        for import in self.variables_of(file) {
            let place = place(self, file, &import);
            if own.contains(&place) {
                continue;
            }
            let path = import.path.as_deref().unwrap_or_default();
            let seen = seen_from(&self.file(0).folder, &place);
            let message = format!("`{path}`: only the source itself can import variables");
            let source = self.file(0).name.display();
            let help = format!("import it in `{source}` too: `import \"{}\"`", seen.display());
            let error = Missing::Error(Code::VariablesInPart, message, help);
            self.missing(file, &import, error);
        }
    }
}

type Read = Result<Arc<str>, Box<NoText>>;

fn unread(path: &Path, error: &std::io::Error) -> Missing {
    let written = path.display();
    let (message, help) = match error.kind() {
        std::io::ErrorKind::NotFound => {
            return Missing::Absent(format!("`{written}` does not exist"));
        }
        std::io::ErrorKind::IsADirectory => (
            format!("`{written}` is a directory"),
            format!("a project is imported by its directory, which has a `{PROJECT_FILE}`"),
        ),
        _ => (format!("`{written}` cannot be read: {error}"), "check the file".to_owned()),
    };
    Missing::Error(Code::ImportNotFound, message, help)
}

/// Without `.` and `..`, as the text says it.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A path seen from a directory.
pub(crate) fn seen_from(directory: &Path, path: &Path) -> PathBuf {
    let mut up = PathBuf::new();
    for above in directory.ancestors() {
        if let Ok(below) = path.strip_prefix(above) {
            let whole = up.join(below);
            return if whole.as_os_str().is_empty() { PathBuf::from(".") } else { whole };
        }
        up.push("..");
    }
    path.to_owned()
}
