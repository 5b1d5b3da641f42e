//! The files of a program: the source, which is the first, and those that are imported.
//!
//! All of them are one unit. Their texts follow each other, so a place says in which file it is; a
//! function is known by its index, whichever file has it; names are looked up from a file.

use std::ops::Range;

use opal_core::Span;
use opal_core::decorator::Expansion;

use super::{Block, Name, Unit};

/// An `import` line.
#[derive(Clone, Debug)]
pub struct Import {
    /// None where it is not a literal.
    pub path: Option<String>,
    pub path_span: Span,
    /// The name after `as`.
    pub alias: Option<Name>,
    /// `import?`
    pub optional: bool,
    pub span: Span,
    /// The file that it leads to; none where that has not been read.
    pub file: Option<usize>,
}

/// What an import brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportKind {
    /// A part of the project: `tasks/db.opl`.
    Part,
    /// The `commands.opl` of another project: `apps/web`.
    Project,
    /// Variables of the environment: `.env`, `.env.local`, `staging.env`.
    Variables,
}

impl Import {
    fn last(&self) -> &str {
        let path = self.path.as_deref().unwrap_or_default().trim_end_matches('/');
        path.rsplit('/').next().unwrap_or(path)
    }

    #[must_use]
    pub fn kind(&self) -> ImportKind {
        let name = self.last();
        if name == ".env" || name.starts_with(".env.") || name.ends_with(".env") {
            ImportKind::Variables
        } else if name.ends_with(".opl") {
            ImportKind::Part
        } else {
            ImportKind::Project
        }
    }

    /// What its functions are called with; none where its path does not give a name.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        if let Some(alias) = &self.alias {
            return Some(&alias.text);
        }
        let name = match self.kind() {
            ImportKind::Part => self.last().strip_suffix(".opl")?,
            ImportKind::Project => self.last(),
            ImportKind::Variables => return None,
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        (name.starts_with(is_first) && name.chars().all(is_part)).then_some(name)
    }
}

/// An imported file.
#[derive(Debug)]
pub struct Part {
    /// The index of its first function.
    pub first: usize,
    /// Its statements at top level: only variables mean anything.
    pub script: Block,
    pub imports: Vec<Import>,
    /// Where its functions start and its paths begin, seen from the directory of the source; none for
    /// that directory itself.
    pub directory: Option<String>,
    /// Whether it was imported as a project, so that a call begins in that directory.
    pub is_project: bool,
    /// Where its text begins.
    pub start: u32,
    /// The package that it belongs to, where it is not a file of the project.
    pub package: Option<PackageFile>,
}

/// A file of a package: the name of the package, and the file as the user knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackageFile {
    pub package: &'static str,
    pub file: &'static str,
}

/// What each import leads to: known to whoever has read the files, one entry for each file.
#[derive(Clone, Debug, Default)]
pub struct Links {
    pub files: Vec<FileLinks>,
}

#[derive(Clone, Debug, Default)]
pub struct FileLinks {
    /// For each import the file, where it has been read.
    pub imports: Vec<Option<usize>>,
    pub directory: Option<String>,
    pub is_project: bool,
    pub start: u32,
    pub package: Option<PackageFile>,
}

impl Unit {
    /// Says what the imports lead to.
    pub(crate) fn link(&mut self, links: &Links) {
        let mut files = links.files.iter();
        if let Some(own) = files.next() {
            link(&mut self.imports, own);
        }
        for (part, links) in self.parts.iter_mut().zip(files) {
            part.directory.clone_from(&links.directory);
            part.is_project = links.is_project;
            part.start = links.start;
            part.package = links.package;
            link(&mut part.imports, links);
        }
    }

    /// The source and every imported file, by their numbers.
    #[must_use]
    pub fn files(&self) -> Range<usize> {
        0..self.parts.len() + 1
    }

    fn part(&self, file: usize) -> Option<&Part> {
        file.checked_sub(1).and_then(|part| self.parts.get(part))
    }

    /// Where the text of the file begins that `offset` is in.
    pub(crate) fn start_of_file(&self, offset: u32) -> u32 {
        let after = self.parts.partition_point(|part| part.start <= offset);
        after.checked_sub(1).map_or(0, |part| self.parts[part].start)
    }

    /// The package that a file belongs to; none for files of the project.
    #[must_use]
    pub fn package_of(&self, file: usize) -> Option<&'static str> {
        self.part(file)?.package.map(|it| it.package)
    }

    /// The directory of the project that a file belongs to, where that is another one than the source's.
    #[must_use]
    pub fn project_of(&self, file: usize) -> Option<&str> {
        self.part(file)?.directory.as_deref()
    }

    /// The function whose steps take the place of a call; none where its file has not been read.
    #[must_use]
    pub fn expansion(&self, of: &Expansion) -> Option<usize> {
        let wanted = PackageFile { package: of.package, file: of.file };
        let part = self.parts.iter().position(|part| part.package == Some(wanted))?;
        self.functions_of(part + 1).find(|index| self.functions[*index].name.text == of.function)
    }

    /// The functions of a file, by their numbers.
    #[must_use]
    pub fn functions_of(&self, file: usize) -> Range<usize> {
        let end = self.functions.len();
        let first = self.part(file).map_or(0, |part| part.first);
        first..self.parts.get(file).map_or(end, |next| next.first)
    }

    /// The file of a function.
    #[must_use]
    pub fn file_of(&self, function: usize) -> usize {
        self.parts.partition_point(|part| part.first <= function)
    }

    #[must_use]
    pub fn script_of(&self, file: usize) -> &Block {
        self.part(file).map_or(&self.script, |part| &part.script)
    }

    #[must_use]
    pub fn imports_of(&self, file: usize) -> &[Import] {
        self.part(file).map_or(&self.imports, |part| &part.imports)
    }

    /// Where the functions of a file start, seen from the directory of the source.
    #[must_use]
    pub fn directory_of(&self, file: usize) -> Option<&str> {
        self.part(file)?.directory.as_deref()
    }

    /// The directory that a call of this function begins in, wherever the call is: that of a project.
    #[must_use]
    pub fn own_directory(&self, function: usize) -> Option<&str> {
        let part = self.part(self.file_of(function))?;
        part.directory.as_deref().filter(|_| part.is_project)
    }
}

fn link(imports: &mut [Import], links: &FileLinks) {
    for (import, file) in imports.iter_mut().zip(&links.imports) {
        import.file = *file;
    }
}
