//! What is wrong with a document, under the codes of its kind of file.

use opal_core::parameter::expected;
use opal_core::{Code, Diagnostic, Span, suggest};

use crate::{Fault, Node, NodeKind, Why, end_of};

/// Nobody reads more of them, and a broken file can have as many as it has lines.
const MOST_ERRORS: usize = 1_000;

/// Each suggestion compares with every name there is.
const MOST_SUGGESTIONS: usize = 100;

/// The codes of a kind of file.
#[derive(Clone, Copy, Debug)]
pub struct Codes {
    pub syntax: Code,
    pub unknown_key: Code,
    pub repeated_key: Code,
    pub missing_key: Code,
    pub value: Code,
}

#[derive(Debug)]
pub struct Problems {
    pub codes: Codes,
    errors: Vec<Diagnostic>,
    suggestions: usize,
}

impl Problems {
    #[must_use]
    pub const fn new(codes: Codes) -> Self {
        Self { codes, errors: Vec::new(), suggestions: 0 }
    }

    pub fn push(&mut self, error: Diagnostic) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(error);
        }
    }

    /// A fault with one way out.
    pub fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::new(code, span, message).help(help));
    }

    /// A name that does not exist, with the nearest of those that do.
    pub fn unknown<'n>(
        &mut self,
        error: Diagnostic,
        given: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) {
        self.suggestions += 1;
        let near = (self.suggestions <= MOST_SUGGESTIONS)
            .then(|| suggest::nearest(given, known.clone()))
            .flatten();
        let mut error = error.maybe_help(near.map(|near| format!("did you mean `{near}`?")));
        if let Some(near) = near {
            let span = error.primary.span;
            error = error.fix(format!("write `{near}`"), span, near);
        }
        self.push(error.help(expected(known)));
    }

    /// Whether a key is that by which YAML 1.1 takes over the keys of another mapping; says so.
    pub fn refuses_merge(&mut self, key: &Node) -> bool {
        let is_merge = matches!(&key.kind, NodeKind::Scalar { text, plain: true } if text == "<<");
        if is_merge {
            let help = "write the keys out, or use an alias for the whole mapping";
            self.error(self.codes.value, key.span, "YAML 1.2 has no merge key `<<`", help);
        }
        is_merge
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    #[must_use]
    pub fn into_errors(mut self) -> Vec<Diagnostic> {
        opal_core::diagnostic::sort(&mut self.errors);
        self.errors
    }
}

impl Codes {
    /// The fault of a text without a document; `help` says how such a file begins.
    #[must_use]
    pub fn empty(&self, text: &str, help: &str) -> Diagnostic {
        self.fault(Span::at(end_of(text) as u32), "this file is empty").help(help)
    }

    fn fault(&self, span: Span, message: &str) -> Diagnostic {
        Diagnostic::new(self.syntax, span, message)
    }

    /// What to say of a text that has no nodes.
    #[must_use]
    pub fn unreadable(&self, Fault { span, why }: Fault) -> Diagnostic {
        match why {
            Why::Syntax(said) => self.fault(span, "invalid YAML").label(said).help(
                "indent with spaces, never tabs; a text that contains `: ` or ` #` needs quotes",
            ),
            Why::Tag(_) => self
                .fault(span, "tags are not supported")
                .help("remove it; quotes turn any value into text"),
            Why::SecondDocument => self
                .fault(span, "a second document begins here")
                .help("a file has one document: move the other to its own file"),
            Why::Nul => self
                .fault(span, "this text contains a NUL character")
                .help("remove it: paths and commands cannot contain one"),
            Why::AliasInside => self
                .fault(span, "this alias is inside the value that it names")
                .help("write the value out"),
            Why::TooDeep => self
                .fault(span, "nesting deeper than 64 levels")
                .help("three or four levels are usual"),
            Why::TooLarge => self
                .fault(span, "the file is too large with its aliases expanded")
                .help("use fewer aliases, or split the file"),
        }
    }
}
