//! What was found wrong, and what every stage of reading needs.

use opal_core::parameter::expected;
use opal_core::{Code, Diagnostic, Registry, Span, suggest};

use super::document::{Node, NodeKind};

/// Nobody reads more of them, and a broken file can have as many as it has lines.
const MOST_ERRORS: usize = 1_000;

/// Each suggestion compares with every name there is.
const MOST_SUGGESTIONS: usize = 100;

#[derive(Debug)]
pub struct Report<'r> {
    pub registry: &'r Registry,
    errors: Vec<Diagnostic>,
    suggestions: usize,
    /// The variables that the step which is read can use; none where texts are only texts.
    pub variables: Vec<String>,
}

impl<'r> Report<'r> {
    pub fn new(registry: &'r Registry) -> Self {
        Self { registry, errors: Vec::new(), suggestions: 0, variables: Vec::new() }
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
            self.error(Code::ConfigValue, key.span, "YAML 1.2 has no merge key `<<`", help);
        }
        is_merge
    }

    pub fn into_errors(mut self) -> Vec<Diagnostic> {
        opal_core::diagnostic::sort(&mut self.errors);
        self.errors
    }
}
