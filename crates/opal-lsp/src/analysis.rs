//! One source, checked: what is wrong with it and its imports, and the facts about its names.

use std::path::{Path, PathBuf};

use opal_core::{Diagnostic, Registry, Span, diagnostic};
use opal_plan::check;
use opal_plan::unit::FunctionNames;

use crate::disk::Stamp;
use crate::facts::{Facts, Places, Recorder};
use crate::program::{Program, ProgramFile, Sources};

#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) facts: Facts,
    /// What was found in each file, the source itself first.
    pub(crate) found: Vec<FileFindings>,
    /// The files of the program, the source left out, and how they were.
    pub(crate) looked_at: Vec<(PathBuf, Stamp)>,
}

/// What was found in one file; places are those in its text.
#[derive(Debug)]
pub(crate) struct FileFindings {
    pub(crate) path: PathBuf,
    pub(crate) findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) diagnostic: Diagnostic,
    /// Other places that matter, in other files.
    pub(crate) elsewhere: Vec<(PathBuf, Span, String)>,
}

impl Analysis {
    /// Checks `text`, which is the file `path`.
    pub(crate) fn of(path: &Path, text: &str, sources: &dyn Sources, registry: &Registry) -> Self {
        let program = Program::of(path, text, sources, registry);
        let recorder = Recorder::new(text.len() as u32);
        let (checked, recorder) = check::check_observed(
            &program.parse,
            &program.text,
            &program.links,
            registry,
            recorder,
        );
        let unit = checked.unit();
        let mut found = checked.all();
        found.extend(program.errors.iter().cloned());
        found.extend(check::reserved(unit, &command(&sources.shown(path))));
        diagnostic::sort(&mut found);
        let files: Vec<(Option<PathBuf>, u32)> =
            program.files.iter().map(|it| (it.path.clone(), it.start)).collect();
        let places = Places { files: &files, text: &program.text };
        let facts = recorder.facts(unit, &FunctionNames::new(unit), &places);
        let found = sorted(&program.files, found);
        Self { facts, found, looked_at: program.looked_at }
    }

    /// What was found in the source itself.
    pub(crate) fn own(&self) -> &[Finding] {
        self.found.first().map_or(&[], |it| &it.findings)
    }
}

/// How a task of a file is run.
pub(crate) fn command(shown: &Path) -> String {
    match shown == Path::new("commands.opl") {
        true => "opal".to_owned(),
        false => format!("opal -f {}", shown.display()),
    }
}

/// Sorts what was found by the files. A file that is imported in several ways has the same said of it
/// each time, and gets it once.
fn sorted(files: &[ProgramFile], all: Vec<Diagnostic>) -> Vec<FileFindings> {
    let mut sorted: Vec<FileFindings> = Vec::new();
    for file in files {
        let Some(path) = &file.path else { continue };
        if !sorted.iter().any(|it| it.path == *path) {
            sorted.push(FileFindings { path: path.clone(), findings: Vec::new() });
        }
    }
    for mut found in all {
        let file = file_at(files, found.primary.span.start);
        let Some(path) = &file.path else { continue };
        let end = file.start + file.len;
        let (here, others) = std::mem::take(&mut found.secondary)
            .into_iter()
            .partition(|label| (file.start..=end).contains(&label.span.start));
        found.secondary = here;
        let elsewhere = others.into_iter().filter_map(|label: opal_core::Label| {
            let other = file_at(files, label.span.start);
            Some((other.path.clone()?, within(other, label.span), label.text))
        });
        let elsewhere = elsewhere.collect();
        let finding = Finding { diagnostic: found.placed(|span| within(file, span)), elsewhere };
        let of = sorted.iter_mut().find(|it| it.path == *path);
        if let Some(of) = of.filter(|it| !it.findings.contains(&finding)) {
            of.findings.push(finding);
        }
    }
    sorted
}

fn file_at(files: &[ProgramFile], at: u32) -> &ProgramFile {
    let after = files.partition_point(|it| it.start <= at);
    &files[after.saturating_sub(1)]
}

fn within(file: &ProgramFile, span: Span) -> Span {
    let end = file.start + file.len;
    let place = |at: u32| at.clamp(file.start, end) - file.start;
    Span::new(place(span.start), place(span.end))
}
