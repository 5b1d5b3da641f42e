//! From an import to its file: which are read, each once, and cycles.

use std::path::{Path, PathBuf};

use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Span};
use opal_syntax::source;

use super::paths::{PROJECT_FILE, seen_from, shown};
use super::{Found, Identity, Linker, Missing, Open, Wanted, reach};
use crate::unit::{FileLinks, Import, ImportKind};
use crate::{Words, lower};

/// Imports of a source and of all that it imports: each is read, and compared with all others.
const MAX_IMPORTS: usize = 10_000;

impl<O: Open> Linker<'_, O> {
    pub(super) fn imports(&mut self, wanted: Wanted<'_>) -> Result<(), O::Stop> {
        if matches!(wanted, Wanted::Everything | Wanted::Target(_)) {
            self.variables()?;
        }
        match wanted {
            Wanted::Everything | Wanted::Functions => self.everything(),
            Wanted::Namespace(namespace) => self.namespace(0, namespace).map(drop),
            Wanted::Target(None) => {
                let mut calls = Vec::new();
                reach::calls(&self.file(0).unit.script, &mut calls);
                let calls = calls.into_iter().map(|name| (0, name.to_owned())).collect();
                self.follow(calls)
            }
            Wanted::Target(Some(name)) => self.follow(vec![(0, name.to_owned())]),
        }
    }

    fn everything(&mut self) -> Result<(), O::Stop> {
        let mut file = 0;
        while file < self.program.files.len() {
            for import in 0..self.file(file).unit.imports.len() {
                self.read(file, import)?;
            }
            file += 1;
        }
        Ok(())
    }

    /// Reads what these functions use, each with the file that names it.
    fn follow(&mut self, mut open: Vec<(usize, String)>) -> Result<(), O::Stop> {
        while let Some((file, name)) = open.pop() {
            let (file, name) = match name.split_once('.') {
                Some((namespace, rest)) => match self.namespace(file, namespace)? {
                    Some(file) => (file, rest.to_owned()),
                    None => continue,
                },
                None => (file, name),
            };
            let mut calls = Vec::new();
            let unit = &self.file(file).unit;
            reach::bodies(unit, &name).for_each(|body| reach::calls(body, &mut calls));
            let calls: Vec<String> = calls.into_iter().map(str::to_owned).collect();
            if self.program.followed.insert((file, name)) {
                open.extend(calls.into_iter().map(|name| (file, name)));
            }
        }
        Ok(())
    }

    /// The file that a namespace means in `file`.
    fn namespace(&mut self, file: usize, namespace: &str) -> Result<Option<usize>, O::Stop> {
        let imports = &self.file(file).unit.imports;
        let found = imports.iter().position(|import| import.namespace() == Some(namespace));
        match found {
            Some(import) => self.read(file, import),
            None => Ok(None),
        }
    }

    /// Reads one import; none where it is not a file with functions, or there is an error.
    fn read(&mut self, file: usize, index: usize) -> Result<Option<usize>, O::Stop> {
        if let Some(known) = self.program.links.files[file].imports[index] {
            return Ok(Some(known));
        }
        let import = self.file(file).unit.imports[index].clone();
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
                self.program.links.files[file].imports[index] = Some(read);
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
        why: Missing<O::Stop>,
    ) -> Result<(), O::Stop> {
        let (code, message, help) = match why {
            Missing::Stop(why) => return Err(why),
            Missing::Unknown => return Ok(()),
            Missing::Error(code, message, help) => (code, message, help),
            Missing::Absent(message) => {
                let help = "paths begin in the directory of the file that imports".to_owned();
                (Code::ImportNotFound, message, help)
            }
        };
        let (start, span) = (self.file(file).span.start, import.path_span);
        let span = Span::new(start + span.start, start + span.end);
        let error = Diagnostic::new(code, span, message).help(help);
        if !self.program.errors.contains(&error) {
            self.program.errors.push(error);
        }
        Ok(())
    }

    /// Reads what `file` names.
    pub(super) fn open(
        &mut self,
        file: usize,
        path: &Path,
        limit: u64,
    ) -> Result<Found, Missing<O::Stop>> {
        self.open.open(&self.program.files[file].folder, path, limit)
    }

    /// The number of the file at `path`, which `file` imports.
    fn take(
        &mut self,
        file: usize,
        path: &Path,
        is_project: bool,
    ) -> Result<usize, Missing<O::Stop>> {
        self.taken += 1;
        if self.taken > MAX_IMPORTS {
            let message =
                format!("the source and its imports have more than {MAX_IMPORTS} imports");
            let help = "put functions that are used together into one file".to_owned();
            return Err(Missing::Error(Code::TooLarge, message, help));
        }
        let found = self.open(file, path, MAX_SOURCE_BYTES as u64)?;
        self.cycle(file, &found.identity)?;
        let folder = found.path.parent().unwrap_or(Path::new("/")).to_owned();
        let directory = match is_project {
            true => Some(seen_from(&self.file(0).folder, &folder).display().to_string()),
            false => self.program.links.files[file].directory.clone(),
        };
        let files = self.program.files.iter().zip(&self.program.links.files);
        let same = files.skip(1).position(|(known, links)| {
            let start = (&links.directory, links.is_project);
            known.identity == found.identity && start == (&directory, is_project)
        });
        if let Some(same) = same {
            return Ok(same + 1);
        }
        let shown = shown(&self.file(file).name, path);
        let text = source::decode(found.bytes).map_err(|why| {
            let message = format!("`{}`: {}", shown.display(), why.diagnostic.message);
            Missing::Error(why.diagnostic.code, message, why.diagnostic.help.join("; "))
        })?;
        if self.whole.text.len() + text.len() >= MAX_SOURCE_BYTES {
            let message = "the source and its imports are larger than 16 MiB together".to_owned();
            let help = "move data out of the sources, into files that steps read".to_owned();
            return Err(Missing::Error(Code::TooLarge, message, help));
        }
        let parse = opal_syntax::parse(&text, &Words(self.registry));
        let unit = lower::unit(&parse, &text);
        let imports = vec![None; unit.imports.len()];
        let links = FileLinks { imports, directory, is_project, ..FileLinks::default() };
        let names = (shown, Some(found.path));
        let number = self.append((&text, parse, unit), names, (folder, found.identity), links);
        self.foreign_variables(number);
        Ok(number)
    }

    /// No file imports itself, whatever is in between.
    fn cycle(&self, file: usize, imported: &Identity) -> Result<(), Missing<O::Stop>> {
        let Some(way) = self.way(imported, &self.file(file).identity) else { return Ok(()) };
        let name = |file: &usize| self.file(*file).name.display().to_string();
        let names: Vec<String> = std::iter::once(&file).chain(&way).map(name).collect();
        let message = format!("import cycle: {}", names.join(" -> "));
        let help = "move what both need into a file of its own, which both import";
        Err(Missing::Error(Code::ImportCycle, message, help.to_owned()))
    }

    /// The files from one to another, by their imports.
    fn way(&self, from: &Identity, to: &Identity) -> Option<Vec<usize>> {
        let (files, links) = (&self.program.files, &self.program.links);
        let mut open: Vec<usize> =
            (0..files.len()).filter(|file| files[*file].identity == *from).collect();
        // By file: the one that it was reached from, itself where it is the first of a way.
        let mut reached: Vec<Option<usize>> = vec![None; files.len()];
        open.iter().for_each(|file| reached[*file] = Some(*file));
        while let Some(last) = open.pop() {
            if files[last].identity == *to {
                let before = |file: &usize| reached[*file].filter(|before| before != file);
                let mut way: Vec<usize> = std::iter::successors(Some(last), before).collect();
                way.reverse();
                return Some(way);
            }
            for next in links.files[last].imports.iter().flatten() {
                if reached[*next].is_none() {
                    reached[*next] = Some(last);
                    open.push(*next);
                }
            }
        }
        None
    }
}
