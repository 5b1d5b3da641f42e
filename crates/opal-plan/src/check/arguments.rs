//! Arguments against the parameters of a decorator.

use opal_core::decorator::{Descriptor, Param};
use opal_core::parameter::{self, BindError, Binding, ExactlyOneError, exactly_one, listed};
use opal_core::script::{Case, interpreted, is_run_by_program};
use opal_core::{Code, Diagnostic, Span, Type, Value};

use super::binding::{
    Bound, Written, bind, bind_subject, decorator_error, foreign, form, shell_of,
};
use super::checker::Checker;
use super::lets::Site;
use super::observer::{Callee, Given, Observer};
use crate::lower;
use crate::unit::{Argument, Expr, ExprKind, Reference, StrPiece};

impl<O: Observer> Checker<'_, O> {
    /// Checks arguments that nothing is known about.
    pub(super) fn argument_values(&mut self, args: &[Argument], site: Site) {
        for arg in args {
            self.expression(&arg.value, site);
        }
    }

    /// Checks `args` against `descriptor`; `subject` where the name it needs is in the path.
    pub(super) fn arguments(
        &mut self,
        descriptor: &'static Descriptor,
        args: &[Argument],
        span: Span,
        subject: bool,
        site: Site,
    ) {
        let mut binding = Binding::new(descriptor.params);
        bind_subject(descriptor, subject, span, &mut binding);
        let foreign = foreign(descriptor, args, subject);
        let collects = self.collects && shell_of(descriptor, args, subject).is_none();
        let outer = std::mem::replace(&mut self.collects, collects);
        let mut lost = false;
        for arg in args {
            let index = match bind(descriptor, arg, &mut binding) {
                Ok(Bound::Param(index)) => index,
                Ok(Bound::Open) => {
                    self.given_to(descriptor, None, span, arg);
                    self.open_argument(descriptor, arg);
                    continue;
                }
                Err(BindError::Repeated { index, first }) => {
                    let error = BindError::Repeated { index, first };
                    self.report(decorator_error(descriptor, arg, error));
                    index
                }
                Err(error) => {
                    self.expression(&arg.value, Site::Run);
                    self.report(decorator_error(descriptor, arg, error));
                    lost = true;
                    continue;
                }
            };
            self.given_to(descriptor, Some(index), span, arg);
            let param = &descriptor.params[index];
            match foreign {
                // Never read as shell text: its quotes and comments are other ones.
                Some(program) if param.shell => self.foreign_text(&arg.value, program),
                _ => self.argument(param, arg, site),
            }
        }
        self.collects = outer;
        // An argument with a wrong name may well be the one that is missing.
        if !lost {
            self.missing(descriptor, &binding, span);
        }
    }

    fn given_to(
        &mut self,
        descriptor: &'static Descriptor,
        param: Option<usize>,
        call: Span,
        arg: &Argument,
    ) {
        let (callee, span) = (Callee::Decorator(descriptor), arg.span);
        let name = arg.name.as_ref().map(|name| name.span);
        self.observer.given(Given { call, callee, param, name, span });
    }

    /// A further name, where the decorator takes any.
    fn open_argument(&mut self, descriptor: &'static Descriptor, arg: &Argument) {
        let ty = self.expression(&arg.value, Site::Run);
        let (Some(open), Some(name)) = (&descriptor.open_params, &arg.name) else { return };
        if descriptor.path == "environ" {
            self.interpreted_variable(&name.text, &arg.value);
        }
        self.fits(&name.text, open, &ty, &arg.value);
    }

    fn argument(&mut self, param: &'static Param, arg: &Argument, site: Site) {
        if let Some(instead) = param.deprecated {
            let message = format!("`{}` is deprecated", param.name);
            self.error(Code::DeprecatedParameter, arg.span, message, instead);
        }
        if let (Some(shape), ExprKind::Literal(Value::String(text))) =
            (param.shape, &arg.value.kind)
            && let Some(instead) = shape.instead_of(text)
        {
            let message = format!("`{text}` is a deprecated `{}`", param.name);
            self.error(Code::DeprecatedParameter, arg.span, message, instead);
        }
        if self.unquoted_choice(&param.ty, &arg.value) {
            return;
        }
        if param.shell && self.shell_argument(&arg.value, site) {
            return;
        }
        if param.environment
            && let ExprKind::Map(entries) = &arg.value.kind
        {
            for (key, value) in entries {
                self.interpreted_variable(&key.name.text, value);
            }
        }
        let given = self.expression(&arg.value, site);
        let written = Written::new(&arg.value, given);
        if let Err(mismatch) = parameter::check(param, &written) {
            self.report(written.refused(param.name, &mismatch));
        }
    }

    /// `strategy=linear` where `"linear"` is meant.
    pub(super) fn unquoted_choice(&mut self, ty: &Type, value: &Expr) -> bool {
        let (Type::OneOf(choices), ExprKind::Name(name)) = (ty, &value.kind) else { return false };
        if !choices.contains(name) || self.is_visible(name) {
            return false;
        }
        let message = format!("undeclared variable `{name}`");
        self.report(
            Diagnostic::new(Code::UndeclaredVariable, value.span, message)
                .help(format!("for the text, write `\"{name}\"`"))
                .fix("quote it", value.span, format!("\"{name}\"")),
        );
        true
    }

    /// Checks a value of type `given` against the type of the parameter `name`.
    pub(super) fn fits(&mut self, name: &str, wanted: &Type, given: &Type, value: &Expr) {
        let written = Written::new(value, given.clone());
        if let Err(mismatch) = parameter::accepts(wanted, &written) {
            self.report(written.refused(name, &mismatch));
        }
    }

    /// A command given as a string: checked like a shell step. True where that was done.
    fn shell_argument(&mut self, value: &Expr, site: Site) -> bool {
        let string = matches!(value.kind, ExprKind::Str(_) | ExprKind::Literal(Value::String(_)));
        if string && let Some(literal) = lower::string_literal(self.parse, self.text, value.span) {
            let (text, errors) = lower::shell_literal(&literal, self.registry());
            self.out.extend(errors);
            self.shell_argument_text(&text, site);
            return true;
        }
        match &value.kind {
            ExprKind::Binary { first, rest } => {
                let rest = rest.iter().map(|(_, _, right)| right);
                std::iter::once(&**first).chain(rest).for_each(|part| self.computed_command(part));
            }
            _ => self.computed_command(value),
        }
        false
    }

    /// A variable that a shell, a loader or opal interprets takes no value but a literal.
    fn interpreted_variable(&mut self, name: &str, value: &Expr) {
        if is_run_by_program(name) && has_references(value) {
            let message = format!("`{name}` can become code: {}", Case::RUN_BY_PROGRAM.why);
            let help = "check the value first, or write it as a literal";
            return self.report(Diagnostic::new(Code::ValueInCode, value.span, message).help(help));
        }
        let Some(row) = interpreted(name).filter(|_| has_references(value)) else { return };
        let message = format!("a value would become code: `{name}` is interpreted, as {}", row.why);
        let help = "write the value as a literal, or call the program by its path";
        self.error(Code::ReevaluatedText, value.span, message, help);
    }

    /// Text for a program that is not a shell, in which nothing keeps a value from becoming code.
    fn foreign_text(&mut self, value: &Expr, program: &str) {
        match &value.kind {
            ExprKind::Literal(Value::String(_)) => {}
            ExprKind::Str(pieces) => {
                for piece in pieces {
                    if let StrPiece::Reference(reference) = piece {
                        let path = &reference.path.text;
                        let message = format!("`@{path}` would become code of `{program}`");
                        let help =
                            format!("pass it in a variable, with `@environ(NAME=@{path}) {{ … }}`");
                        self.error(Code::ReevaluatedText, reference.span, message, help);
                    }
                }
            }
            _ => {
                self.shell_argument(value, Site::Run);
            }
        }
    }

    fn computed_command(&mut self, part: &Expr) {
        if !self.is_resolved(part) {
            return;
        }
        let path = match &part.kind {
            ExprKind::Reference(reference) => reference.path.text.clone(),
            ExprKind::Name(name) => format!("var.{name}"),
            _ => "var.NAME".to_owned(),
        };
        let message = "a value would become code: this command is built from values";
        let error = Diagnostic::new(Code::ReevaluatedText, part.span, message)
            .help(format!("write it into the command itself: `\"… @{path} …\"`"))
            .help(format!("to paste it unprotected, write `@raw(@{path})`"));
        self.report(error);
    }

    /// Whether a value comes from the world: it must never become code.
    pub(super) fn is_resolved(&self, expr: &Expr) -> bool {
        let reference = |reference: &Reference| match reference.named() {
            Some(("var", name)) => self.names.is_resolved(name),
            Some(_) => true,
            None => !matches!(reference.path.text.as_str(), "raw" | "args"),
        };
        match &expr.kind {
            ExprKind::Missing | ExprKind::Literal(_) | ExprKind::Regex(_) => false,
            ExprKind::Name(name) => self.names.is_resolved(name),
            ExprKind::Reference(found) => reference(found),
            ExprKind::Str(pieces) => pieces.iter().any(|piece| match piece {
                StrPiece::Reference(found) => reference(found),
                _ => false,
            }),
            ExprKind::Array(elements) => elements.iter().any(|e| self.is_resolved(e)),
            ExprKind::Map(entries) => entries.iter().any(|(_, e)| self.is_resolved(e)),
            ExprKind::Function { args, .. } => args.iter().any(|a| self.is_resolved(&a.value)),
            ExprKind::Access { base, .. } => self.is_resolved(base),
            ExprKind::Unary { operand, .. } => self.is_resolved(operand),
            ExprKind::Binary { first, rest } => {
                self.is_resolved(first) || rest.iter().any(|(_, _, e)| self.is_resolved(e))
            }
        }
    }

    fn missing(
        &mut self,
        descriptor: &'static Descriptor,
        binding: &Binding<'_, Param, Span>,
        span: Span,
    ) {
        let names: Vec<&str> = binding.missing().map(|param| param.name).collect();
        if !names.is_empty() {
            let message = format!("`@{}` needs {}", descriptor.path, listed(names));
            self.error(Code::MissingArgument, span, message, form(descriptor));
        }
        let any = descriptor.any_of;
        if !any.is_empty() && any.iter().all(|name| binding.given(name).is_none()) {
            let names = listed(any.iter().copied());
            let message = format!("`@{}` needs at least one of {names}", descriptor.path);
            self.error(Code::MissingArgument, span, message, form(descriptor));
        }
        let names = || listed(descriptor.one_of.iter().copied());
        match exactly_one(descriptor.one_of, |name| binding.given(name)) {
            Ok(()) => {}
            Err(ExactlyOneError::None) => {
                let message = format!("`@{}` needs one of {}", descriptor.path, names());
                self.error(Code::MissingArgument, span, message, form(descriptor));
            }
            Err(ExactlyOneError::Two { first: (first, place), second: (second, again) }) => {
                let message = format!("`{second}` and `{first}` are mutually exclusive");
                let error = Diagnostic::new(Code::RepeatedArgument, again, message);
                let help = format!("give exactly one of {}", names());
                self.report(error.also(place, "first here").help(help));
            }
        }
    }
}

/// Whether anything in it is not written here.
fn has_references(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Literal(_) | ExprKind::Missing | ExprKind::Regex(_) => false,
        ExprKind::Str(pieces) => pieces.iter().any(|piece| matches!(piece, StrPiece::Reference(_))),
        ExprKind::Binary { first, rest } => {
            has_references(first) || rest.iter().any(|(_, _, right)| has_references(right))
        }
        _ => true,
    }
}
