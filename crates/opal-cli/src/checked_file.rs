//! A file with what was found in it.

use opal_core::{Diagnostic, Severity};
use opal_modules::lint::Linted;

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
