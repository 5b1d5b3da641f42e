//! A file with what was found in it.

use opal_core::{Diagnostic, Severity};
use opal_modules::lint::Linted;
use opal_ops::source::Loaded;
use opal_ops::source::files::FileFindings;

use crate::failure::Failure;

/// One file, checked.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The file could not be read at all.
    pub(crate) failure: Option<Failure>,
}

impl CheckedFile {
    /// The files of a source, each with what was found in it.
    pub(crate) fn of(loaded: &Loaded, diagnostics: Vec<Diagnostic>) -> Vec<Self> {
        let of = |findings: FileFindings<'_>| {
            let FileFindings { file, diagnostics } = findings;
            Self::new(file.name.to_owned(), file.text.to_owned(), diagnostics)
        };
        loaded.sorted(diagnostics).into_iter().map(of).collect()
    }

    /// One that could be read.
    pub(crate) fn new(name: String, text: String, diagnostics: Vec<Diagnostic>) -> Self {
        Self { name, text, diagnostics, failure: None }
    }

    pub(crate) fn count(&self, severity: Severity) -> usize {
        let found = self.diagnostics.iter().filter(|found| found.severity() == severity);
        found.map(|found| 1 + found.more).sum()
    }
}

impl From<Linted> for CheckedFile {
    fn from(Linted { path, text, diagnostics }: Linted) -> Self {
        Self::new(path.display().to_string(), text, diagnostics)
    }
}
