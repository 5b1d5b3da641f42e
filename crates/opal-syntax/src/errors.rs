//! Errors on their way out: so many are kept, the rest is counted.

use opal_core::{Code, Diagnostic, Span};

/// A file of braces could have millions.
const MAX_KEPT: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Errors {
    kept: Vec<Diagnostic>,
    /// The last one that there was no room for.
    spare: Option<Diagnostic>,
    dropped: usize,
}

impl Errors {
    /// Adds one, to be given labels and help.
    pub(crate) fn add(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let error = Diagnostic::new(code, span, message);
        if self.kept.len() >= MAX_KEPT {
            self.dropped += 1;
            return self.spare.insert(error);
        }
        self.kept.push(error);
        let last = self.kept.len() - 1;
        &mut self.kept[last]
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Takes back what was said after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.kept.truncate(len);
    }

    /// All that were kept; the last one counts the others.
    pub(crate) fn take(&mut self) -> Vec<Diagnostic> {
        if let Some(last) = self.kept.last_mut() {
            last.more += std::mem::take(&mut self.dropped);
        }
        std::mem::take(&mut self.kept)
    }
}
