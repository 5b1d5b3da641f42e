//! What went wrong, where, why, and what to type next.
//!
//! A diagnostic is data. Wording and places are decided where the fault is found; colours, columns
//! and exit codes are decided by whoever shows it.

use std::collections::BTreeMap;

use crate::code::{Code, Severity};
use crate::gather;
use crate::text::Span;

/// A place and a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// One replacement of source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

/// A change that is certain to be meant; tools may apply it without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub edits: Vec<Edit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    /// Lower case, without a full stop, with the thing in backticks.
    pub message: String,
    pub primary: Label,
    pub secondary: Vec<Label>,
    /// The way forward, one suggestion a line.
    pub help: Vec<String>,
    pub fix: Option<Fix>,
    /// The decorator that gave no value, where planning failed for that.
    pub unread: Option<&'static str>,
    /// How many more like it there are that nobody kept: a file can hold millions.
    pub more: usize,
}

/// As many of one code are kept and shown of a file.
pub const MAX_OF_CODE: usize = 100;

impl Diagnostic {
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            help: Vec::new(),
            fix: None,
            unread: None,
            more: 0,
        }
    }

    /// The same with other places: those that `place` gives.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(Span) -> Span) -> Self {
        self.primary.span = place(self.primary.span);
        self.secondary.iter_mut().for_each(|label| label.span = place(label.span));
        let edits = self.fix.iter_mut().flat_map(|fix| &mut fix.edits);
        edits.for_each(|edit| edit.span = place(edit.span));
        self
    }

    /// Words under the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// A second place that matters.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds `help` only where there is something to say.
    #[must_use]
    pub fn maybe_help(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        let edit = Edit { span, text: text.into() };
        self.fix = Some(Fix { title: title.into(), edits: vec![edit] });
        self
    }

    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}

/// What is shown of a file's diagnostics: the first [`MAX_OF_CODE`] of each code, and how many more
/// there are of which.
#[must_use]
pub fn limit(diagnostics: &[Diagnostic]) -> (Vec<&Diagnostic>, Vec<(Code, usize)>) {
    let mut counts: BTreeMap<Code, (usize, usize)> = BTreeMap::new();
    let shown = diagnostics.iter().filter(|found| {
        let (kept, more) = counts.entry(found.code).or_default();
        let is_kept = *kept < MAX_OF_CODE;
        *(if is_kept { kept } else { &mut *more }) += 1;
        *more += found.more;
        is_kept
    });
    let shown = shown.collect();
    let more = counts.into_iter().filter(|(_, (_, more))| *more > 0);
    (shown, more.map(|(code, (_, more))| (code, more)).collect())
}

/// Puts diagnostics into the one order they are shown in: by place, then by code.
pub fn sort(diagnostics: &mut Vec<Diagnostic>) {
    gather::sort_by_key(diagnostics, |it| (it.primary.span, it.code.as_str()));
}
