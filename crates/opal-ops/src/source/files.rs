//! The files of a source: places in them, and their digests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use opal_core::contract::Contract;
use opal_core::gather::Gather as _;
use opal_core::hash::{Algorithm, Digest};
use opal_core::{Diagnostic, LineIndex, Span};
use opal_plan::plan::source_hash;

use super::Loaded;
use super::seen_from;

/// A file of a source.
#[derive(Clone, Copy, Debug)]
pub struct FileText<'l> {
    pub path: &'l Path,
    /// As the user knows it.
    pub name: &'l str,
    pub text: &'l str,
    /// Where its text begins in the text of all of them.
    pub start: u32,
}

/// What was found in one file; places are those in its text.
#[derive(Debug)]
pub struct FileFindings<'l> {
    pub file: FileText<'l>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Where the lines of the files of a source begin.
#[derive(Debug)]
pub struct Lines<'l> {
    /// The name of each, and where its text begins.
    files: Vec<(&'l str, u32, LineIndex)>,
}

impl<'l> Lines<'l> {
    /// The file and the line of a place.
    #[must_use]
    pub fn of(&self, offset: u32) -> (&'l str, u32) {
        let after = self.files.partition_point(|(_, start, _)| *start <= offset);
        let (name, start, lines) = &self.files[after.saturating_sub(1)];
        (name, lines.line(offset - start))
    }
}

impl Loaded {
    /// The source, and each imported file once for every way in which it is imported.
    pub fn texts(&self) -> impl Iterator<Item = FileText<'_>> {
        let end = self.imports.files.first().map_or(self.text.len(), |first| first.source_end);
        let own =
            FileText { path: &self.path, name: &self.name, text: &self.text[..end], start: 0 };
        let imported = self.imports.files.iter().map(|file| FileText {
            path: &file.path,
            name: &file.name,
            text: &self.text[file.span.range()],
            start: file.span.start,
        });
        std::iter::once(own).chain(imported)
    }

    /// The file that a place is in.
    #[must_use]
    pub fn file_at(&self, offset: u32) -> FileText<'_> {
        let before = self.texts().take_while(|file| file.start <= offset);
        before.last().expect("the source itself begins at 0")
    }

    /// The file and the line of a place. For many of them, [`Loaded::lines`] counts once.
    #[must_use]
    pub fn line(&self, offset: u32) -> (&str, u32) {
        let file = self.file_at(offset);
        let before = &file.text.as_bytes()[..(offset - file.start) as usize];
        (file.name, 1 + before.iter().filter(|byte| **byte == b'\n').count() as u32)
    }

    /// The lines of all files.
    #[must_use]
    pub fn lines(&self) -> Lines<'_> {
        let files = self.texts().map(|file| (file.name, file.start, LineIndex::new(file.text)));
        Lines { files: files.collect() }
    }

    /// Sorts what was found by the files. A second place in another file is named in words.
    #[must_use]
    pub fn sorted(&self, diagnostics: Vec<Diagnostic>) -> Vec<FileFindings<'_>> {
        let mut all: Vec<FileFindings<'_>> =
            self.texts().map(|file| FileFindings { file, diagnostics: Vec::new() }).collect();
        for mut found in diagnostics {
            let at = found.primary.span.start;
            let index = all.partition_point(|it| it.file.start <= at).saturating_sub(1);
            let file = all[index].file;
            let end = file.start + file.text.len() as u32;
            let (here, elsewhere) = std::mem::take(&mut found.secondary)
                .into_iter()
                .partition(|label| (file.start..=end).contains(&label.span.start));
            found.secondary = here;
            for label in elsewhere {
                let (name, line) = self.line(label.span.start);
                found.help.insert(0, format!("{}: {name}:{line}", label.text));
            }
            let place = |span: Span| {
                let within = |at: u32| at.clamp(file.start, end) - file.start;
                Span::new(within(span.start), within(span.end))
            };
            all[index].diagnostics.push(found.placed(place));
        }
        // A file that is imported in several ways has the same said of it each time.
        let mut merged: Vec<FileFindings<'_>> = Vec::new();
        for mut one in all {
            match merged.iter_mut().find(|it| it.file.path == one.file.path) {
                Some(first) => {
                    one.diagnostics.retain(|found| !first.diagnostics.contains(found));
                    first.diagnostics.append(&mut one.diagnostics);
                }
                None => merged.push(one),
            }
        }
        merged
    }

    /// The digest of every file, each once.
    pub fn digests(&self, algorithm: Algorithm) -> impl Iterator<Item = (FileText<'_>, Digest)> {
        let mut seen = BTreeSet::new();
        let files = self.texts().filter(move |file| seen.insert(file.path));
        files.map(move |file| (file, source_hash(algorithm, file.text)))
    }

    /// The files that are not as a contract has them, in the order of their paths: changed, added or
    /// gone. None where the contract, or the source of now, is a single file.
    #[must_use]
    pub fn changed(&self, contract: &Contract) -> Vec<String> {
        let made = contract.provenance();
        let Some(source) = made.source.as_ref().filter(|_| self.parse().is_some()) else {
            return Vec::new();
        };
        let folder = |path: &'_ Path| path.parent().unwrap_or(Path::new("")).to_owned();
        let (then, now) = (folder(Path::new(&source.path)), folder(&self.path));
        let before = made.sources.iter();
        let before: BTreeMap<PathBuf, Digest> =
            before.map(|it| (seen_from(&then, Path::new(&it.path)), it.digest)).gathered();
        let after = self.digests(contract.plan().algorithm);
        let after: BTreeMap<PathBuf, Digest> =
            after.map(|(file, digest)| (seen_from(&now, file.path), digest)).gathered();
        if before.len().max(after.len()) < 2 {
            return Vec::new();
        }
        let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let changed = all.into_iter().filter(|path| before.get(*path) != after.get(*path));
        let Some(selection) = &self.selection else {
            return changed.map(|path| path.display().to_string()).collect();
        };
        // The text that was made of the projects is in no file, and says nothing more than they do.
        let own = self.path.file_name().map(Path::new);
        let changed = changed.filter(|path| Some(path.as_path()) != own);
        let since = |what: &str| match &selection.commit {
            Some(commit) => format!(": {what} since {}", &commit[..commit.len().min(12)]),
            None => String::new(),
        };
        let words = |path: &PathBuf| match (before.get(path), after.get(path)) {
            (None, _) => format!("{} (newly selected{})", path.display(), since("changed")),
            (_, None) => format!("{} (no longer selected{})", path.display(), since("unchanged")),
            _ => path.display().to_string(),
        };
        changed.map(words).collect()
    }

    /// The digest of the source. With imports it is that of the digests of all files, in the order of
    /// their paths, each after its path seen from the source.
    #[must_use]
    pub fn source_hash(&self, algorithm: Algorithm) -> Digest {
        if self.imports.files.is_empty() {
            return source_hash(algorithm, &self.text);
        }
        let base = self.path.parent().unwrap_or(Path::new(""));
        let mut lines: Vec<String> = self
            .digests(algorithm)
            .map(|(file, digest)| {
                let path = seen_from(base, file.path);
                format!("{} {}\n", digest.hex(), path.display())
            })
            .collect();
        lines.sort();
        source_hash(algorithm, &lines.concat())
    }
}
