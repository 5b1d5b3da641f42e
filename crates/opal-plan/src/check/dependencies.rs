//! `@needs`: where it may be written.
//!
//! Dependencies run before the first step of the target, so they are written before the steps of
//! their function, and in nothing that decides at run time whether, how often or where its block runs.

use opal_core::{Code, Diagnostic, Span};

use super::checker::Checker;
use super::observer::Observer;
use crate::unit::Call;

/// What precedes and surrounds a statement of the function that is walked.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    /// The first statement that runs something.
    first_step: Option<Span>,
    /// The open construct or decorator that keeps dependencies out of its block.
    inside: Option<String>,
}

impl<O: Observer> Checker<'_, O> {
    /// Notes a statement that runs something.
    pub(super) fn note_step(&mut self, span: Span) {
        self.dependencies.first_step.get_or_insert(span);
    }

    /// Walks a block that dependencies are kept out of.
    pub(super) fn at_run_time(&mut self, what: &str, walk: impl FnOnce(&mut Self)) {
        let outer = self.dependencies.inside.replace(what.to_owned());
        walk(self);
        self.dependencies.inside = outer;
    }

    /// `@needs.NAME(…)`; alone where nothing else is in its statement.
    pub(super) fn dependency(&mut self, call: &Call, is_alone: bool) {
        let Some((kind, name)) = call.function() else { return };
        let span = Span::new(call.path.span.start.saturating_sub(1), call.path.span.end);
        if !is_alone {
            let message = "`@needs` must be a statement of its own";
            let help = "put it on a line before the steps; to run the function here, use `@cmd`";
            self.error(Code::MisplacedDependency, span, message, help);
        } else if let Some(inside) = &self.dependencies.inside {
            let message = format!("`@needs` is not allowed inside `{inside}`");
            let help = "dependencies run once, before the first step: move it to the start of the \
                        function; to run the function here, use `@cmd`";
            self.error(Code::MisplacedDependency, span, message, help);
        } else if let Some(first) = self.dependencies.first_step {
            self.late(call, span, first);
        }
        self.function_call_site(kind, name, call);
        if let Some(descriptor) = self.registry().get(kind.decorator()) {
            self.block_policy(descriptor, call, span);
        }
    }

    fn late(&mut self, call: &Call, span: Span, first: Span) {
        let message = "`@needs` must precede the other steps of its function";
        let error = Diagnostic::new(Code::LateDependency, span, message)
            .also(first, "the first step")
            .help("dependencies run before the first step: move it up");
        let error = match self.moved_up(call, first) {
            Some(text) => error.fix("move it up", Span::new(first.start, call.span.end), text),
            None => error,
        };
        self.report(error);
    }

    /// The source from the first step to the call, with the call first; none where one of the two is in
    /// a block that the other is not in.
    fn moved_up(&self, call: &Call, first: Span) -> Option<String> {
        let between = self.text[first.start as usize..call.span.start as usize].trim_end();
        let line = self.text[..first.start as usize].rfind('\n').map_or(0, |at| at + 1);
        let indent = &self.text[line..first.start as usize];
        let is_simple = indent.trim().is_empty() && !between.contains(['{', '}']);
        is_simple.then(|| format!("{}\n{indent}{between}", &self.text[call.span.range()]))
    }
}
