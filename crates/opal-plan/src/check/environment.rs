//! Values that `@environ` gives to the steps in its block, as far as the file alone tells. Variables and
//! functions that the block calls are known to the planner only, which judges every step.

use opal_core::decorator::Descriptor;
use opal_core::script::{Part, Role, prove_environment};
use opal_core::{Code, Diagnostic, Span};

use super::checker::{Checker, Variable};
use super::observer::Observer;
use crate::unit::{Argument, Expr, Mention, Piece, ShellText};

impl<O: Observer> Checker<'_, O> {
    /// Walks `body` with what the arguments of a call set for it.
    pub(super) fn with_environment(
        &mut self,
        descriptor: &Descriptor,
        args: &[Argument],
        body: impl FnOnce(&mut Self),
    ) {
        let outer = self.environment.len();
        if descriptor.sets_variables() {
            let set = args.iter().filter_map(|arg| {
                let name = arg.name.as_ref()?.text.clone();
                Some(Variable { name, span: reads_world(&arg.value).then_some(arg.value.span) })
            });
            self.environment.extend(set);
        }
        body(self);
        self.environment.truncate(outer);
    }

    /// A text that runs a variable of its environment.
    pub(super) fn environment_text(&mut self, text: &ShellText) {
        let variables = &self.environment;
        let is_last = |at: usize, name: &str| variables[at + 1..].iter().all(|it| it.name != name);
        let values: Vec<(&str, Span)> = variables
            .iter()
            .enumerate()
            .filter(|(at, it)| is_last(*at, &it.name))
            .filter_map(|(_, it)| Some((it.name.as_str(), it.span?)))
            .collect();
        if values.is_empty() {
            return;
        }
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let parts: Vec<Part<'_>> = text.pieces.iter().map(Piece::part).collect();
        let places = prove_environment(&names, &parts);
        let mut errors = Vec::new();
        for ((name, set), place) in values.into_iter().zip(places) {
            // A sum may get a number.
            let refused = place.and_then(|place| place.refused());
            let Some(case) = refused.filter(|case| case.role != Role::Sum) else { continue };
            let message = format!("`${name}` would become code: {}", case.why);
            errors.push(
                Diagnostic::new(Code::ReevaluatedText, text.span, message)
                    .also(set, format!("`{name}` has its value from here"))
                    .help(case.instead()),
            );
        }
        errors.into_iter().for_each(|error| self.report(error));
    }
}

/// Whether the expression names a decorator that reads something.
fn reads_world(value: &Expr) -> bool {
    let mut reads = false;
    value.mentions(&mut |mention| {
        if let Mention::Reference(reference) = mention {
            reads |= !matches!(reference.named(), Some(("var", _)));
        }
    });
    reads
}
