//! One source, checked: what is wrong with it and its imports, and the facts about its names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use opal_core::{Code, Diagnostic, Registry, Span, diagnostic};
use opal_plan::check::{self, Checked};
use opal_plan::lower::Proofs;
use opal_plan::unit::FunctionNames;
use opal_syntax::Parse;

use crate::disk::Stamp;
use crate::facts::{Facts, Places, Recorder};
use crate::program::{Linked, Part, Sources};

#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) facts: Facts,
    /// What was found in each file, the source itself first.
    pub(crate) found: Vec<FileFindings>,
    /// The files of the program, the source left out, and how they were.
    pub(crate) depends_on: BTreeMap<PathBuf, Stamp>,
}

/// What an analysis was made of. To free it takes a twentieth of the time of an edit, and can wait.
#[derive(Debug)]
pub(crate) struct Spent {
    _parse: Parse,
    _checked: Checked,
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

impl Finding {
    /// Two findings with the same key say the same.
    pub(crate) fn key(&self) -> (Code, Span, String) {
        let found = &self.diagnostic;
        (found.code, found.primary.span, found.message.clone())
    }
}

impl Analysis {
    /// Checks `text`, which is the file `path`. Texts of steps that `proofs` knows are not read again.
    pub(crate) fn of(
        path: &Path,
        text: &str,
        sources: &dyn Sources,
        registry: &Registry,
        proofs: &mut Proofs,
    ) -> (Self, Spent) {
        let Linked { text: whole, parse, mut program, parts, depends_on } =
            Linked::of(path, text, sources, registry);
        let recorder = Recorder::new(text.len() as u32);
        let (checked, recorder) =
            check::check_observed(&parse, &whole, &program.links, registry, proofs, recorder);
        let unit = checked.unit();
        let mut found = checked.all();
        found.append(&mut program.errors);
        found.extend(check::reserved(unit, &command(&sources.shown(path))));
        diagnostic::sort(&mut found);
        let places = Places { parts: &parts, text: &whole };
        let facts = recorder.facts(unit, &FunctionNames::new(unit), &places);
        let analysis = Self { facts, found: sorted(&parts, found), depends_on };
        (analysis, Spent { _parse: parse, _checked: checked })
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
fn sorted(files: &[Part], all: Vec<Diagnostic>) -> Vec<FileFindings> {
    let mut sorted: Vec<FileFindings> = Vec::new();
    let mut numbers: BTreeMap<&Path, usize> = BTreeMap::new();
    for path in files.iter().filter_map(|file| file.path.as_deref()) {
        numbers.entry(path).or_insert_with(|| {
            sorted.push(FileFindings { path: path.to_owned(), findings: Vec::new() });
            sorted.len() - 1
        });
    }
    let mut seen = BTreeSet::new();
    for mut found in all {
        let file = file_at(files, found.primary.span.start);
        let Some(path) = &file.path else { continue };
        let Span { start, end } = file.span;
        let (here, others) = std::mem::take(&mut found.secondary)
            .into_iter()
            .partition(|label| (start..=end).contains(&label.span.start));
        found.secondary = here;
        let elsewhere = others.into_iter().filter_map(|label: opal_core::Label| {
            let other = file_at(files, label.span.start);
            Some((other.path.clone()?, within(other, label.span), label.text))
        });
        let elsewhere = elsewhere.collect();
        let finding = Finding { diagnostic: found.placed(|span| within(file, span)), elsewhere };
        let number = numbers[path.as_path()];
        if seen.insert((number, finding.key())) {
            sorted[number].findings.push(finding);
        }
    }
    sorted
}

fn file_at(files: &[Part], at: u32) -> &Part {
    let after = files.partition_point(|it| it.span.start <= at);
    &files[after.saturating_sub(1)]
}

fn within(file: &Part, span: Span) -> Span {
    let Span { start, end } = file.span;
    let place = |at: u32| at.clamp(start, end) - start;
    Span::new(place(span.start), place(span.end))
}
