//! Arguments against the parameters of a decorator.

use opal_core::decorator::{Descriptor, Param, Presence, Subject};
use opal_core::script::interpreted;
use opal_core::{Code, Diagnostic, Span, Type, Value, suggest};

use super::lets::Site;
use super::{Checker, listed, matches};
use crate::lower;
use crate::unit::{Argument, Expr, ExprKind, Reference, StrPiece, foreign};

impl Checker<'_> {
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
        let mut given: Vec<Option<Span>> = vec![None; descriptor.params.len()];
        if let (Subject::OrParam(name), true) = (descriptor.subject, subject)
            && let Some(index) = descriptor.params.iter().position(|param| param.name == name)
        {
            given[index] = Some(span);
        }
        let foreign = foreign(args);
        // Text for another interpreter is not this shell's to read.
        let shell = descriptor.params.iter().position(|param| param.name == "shell");
        let names_shell = |(at, arg): (usize, &Argument)| match &arg.name {
            Some(name) => name.text == "shell",
            None => Some(at) == shell,
        };
        let collects = self.collects && !args.iter().enumerate().any(names_shell);
        let outer = std::mem::replace(&mut self.collects, collects);
        let mut position = 0;
        let mut lost = false;
        for arg in args {
            while given.get(position).is_some_and(Option::is_some) && arg.name.is_none() {
                position += 1;
            }
            let Some(index) = self.parameter_of(descriptor, arg, position) else {
                lost |= descriptor.open_params.is_none();
                continue;
            };
            let param = &descriptor.params[index];
            if let Some(first) = given[index].replace(arg.span) {
                let message = format!("`{}` is given twice", param.name);
                let error = Diagnostic::new(Code::RepeatedArgument, arg.span, message);
                self.report(error.also(first, "first here").help("remove one of them"));
            }
            match foreign {
                // Never read as shell text: its quotes and comments are other ones.
                Some(program) if param.shell => self.foreign_text(&arg.value, program),
                _ => self.argument(param, arg, site),
            }
        }
        self.collects = outer;
        // An argument with a wrong name may well be the one that is missing.
        if !lost {
            self.missing(descriptor, &given, span);
        }
    }

    /// Which parameter an argument is for; says so where there is none.
    fn parameter_of(
        &mut self,
        descriptor: &'static Descriptor,
        arg: &Argument,
        position: usize,
    ) -> Option<usize> {
        let path = descriptor.path;
        let Some(name) = &arg.name else {
            if position < descriptor.params.len() {
                return Some(position);
            }
            self.expression(&arg.value, Site::Run);
            let takes = match descriptor.params.len() {
                0 if descriptor.open_params.is_some() => "takes only named arguments".to_owned(),
                0 => "takes no arguments".to_owned(),
                1 => "takes one argument".to_owned(),
                count => format!("takes {count} arguments"),
            };
            let help = match path {
                "var" | "let" => {
                    format!("to follow it with text in parentheses: `@{path}.NAME()(…)`")
                }
                "environ" => "write `@environ(NAME=\"value\") { … }`".to_owned(),
                _ => form(descriptor),
            };
            self.error(Code::TooManyArguments, arg.span, format!("`@{path}` {takes}"), help);
            return None;
        };
        let known =
            |param: &Param| param.name == name.text || param.alias == Some(name.text.as_str());
        if let Some(index) = descriptor.params.iter().position(known) {
            return Some(index);
        }
        let ty = self.expression(&arg.value, Site::Run);
        if let Some(open) = &descriptor.open_params {
            if path == "environ" {
                self.interpreted_variable(&name.text, &arg.value);
            }
            if !open.accepts(&ty) {
                let message = format!(
                    "`{}` is {}, and `@{path}` takes {}",
                    name.text,
                    ty.with_article(),
                    open.with_article()
                );
                self.error(
                    Code::WrongType,
                    arg.value.span,
                    message,
                    "quote it, or convert it with `str(…)`",
                );
            }
            return None;
        }
        let names = descriptor.params.iter().map(|param| param.name);
        let near = suggest::nearest(&name.text, names.clone());
        let mut error = Diagnostic::new(
            Code::UnknownArgument,
            name.span,
            format!("`@{path}` has no argument `{}`", name.text),
        )
        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
        .help(format!("known are {}", listed(names)));
        if let Some(near) = near {
            error = error.fix(format!("write `{near}`"), name.span, near);
        }
        self.report(error);
        None
    }

    fn argument(&mut self, param: &'static Param, arg: &Argument, site: Site) {
        if let Some(instead) = param.deprecated {
            let message = format!("`{}` goes away", param.name);
            self.error(Code::DeprecatedParameter, arg.span, message, instead);
        }
        if self.unquoted_choice(&param.ty, &arg.value) {
            return;
        }
        if param.shell && self.shell_argument(&arg.value, site) {
            return;
        }
        let given = self.expression(&arg.value, site);
        self.fits(param.name, &param.ty, &given, &arg.value);
        self.in_bounds(param, &arg.value);
    }

    /// `strategy=linear` where `"linear"` is meant.
    pub(super) fn unquoted_choice(&mut self, ty: &Type, value: &Expr) -> bool {
        let (Type::OneOf(choices), ExprKind::Name(name)) = (ty, &value.kind) else { return false };
        if !choices.contains(name) || self.is_visible(name) {
            return false;
        }
        let message = format!("`{name}` is a variable that is not declared");
        self.report(
            Diagnostic::new(Code::UndeclaredVariable, value.span, message)
                .help(format!("for the text, write `\"{name}\"`"))
                .fix("quote it", value.span, format!("\"{name}\"")),
        );
        true
    }

    /// Whether a value of type `given` may be given to a parameter of type `wanted`.
    pub(super) fn fits(&mut self, name: &str, wanted: &Type, given: &Type, value: &Expr) -> bool {
        if !wanted.accepts(given) {
            let message = format!(
                "`{name}` is {}, and {} is wanted",
                given.with_article(),
                wanted.with_article()
            );
            let help = match (wanted, given) {
                (Type::Duration, Type::Int) => "give it a unit, as in `5s` or `1m30s`".to_owned(),
                (Type::Duration, Type::String) => "write it without quotes, as in `5s`".to_owned(),
                (Type::Int, Type::String) => {
                    "write it without quotes, or convert it with `int(…)`".to_owned()
                }
                (Type::Bool, Type::String) => "write `true` or `false` without quotes".to_owned(),
                (Type::String, Type::Int | Type::Float) => {
                    "quote it, or convert it with `str(…)`".to_owned()
                }
                (Type::Float, Type::Int) => "write it with a point, as in `1.0`".to_owned(),
                (Type::Array(_), _) => "write a list: `[value]`".to_owned(),
                _ => format!("give it {}", wanted.with_article()),
            };
            self.error(Code::WrongType, value.span, message, help);
            return false;
        }
        if let (Type::OneOf(choices), ExprKind::Literal(Value::String(text))) =
            (wanted, &value.kind)
            && !choices.contains(text)
        {
            let near = suggest::nearest(text, choices.iter());
            let error = Diagnostic::new(
                Code::NotAChoice,
                value.span,
                format!("`{text}` is not among the values of `{name}`"),
            )
            .maybe_help(near.map(|near| format!("did you mean \"{near}\"?")))
            .help(format!("known are {}", listed(choices.iter())));
            self.report(error);
            return false;
        }
        true
    }

    fn in_bounds(&mut self, param: &Param, value: &Expr) {
        if let (Some((low, high)), Some(given)) = (param.range, int_literal(value))
            && !(low..=high).contains(&given)
        {
            let message = format!("`{}` is {given}, which is out of its range", param.name);
            let help = format!("it goes from {low} to {high}");
            self.error(Code::OutOfRange, value.span, message, help);
        }
        if let (Some(pattern), ExprKind::Literal(Value::String(text))) =
            (param.pattern, &value.kind)
            && !matches(pattern, text)
        {
            let message = format!("`{text}` is not of the form that `{}` has", param.name);
            let help = format!("it matches `{pattern}`");
            self.error(Code::PatternMismatch, value.span, message, help);
        }
    }

    /// A command given as a string: checked like a shell step. True where that was done.
    fn shell_argument(&mut self, value: &Expr, site: Site) -> bool {
        let string = matches!(value.kind, ExprKind::Str(_) | ExprKind::Literal(Value::String(_)));
        if string && let Some(literal) = lower::string_literal(self.parse, self.text, value.span) {
            let (text, errors) = lower::shell_literal(&literal, self.registry);
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
        let message = "a value would become code: this command is put together from values";
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

    fn missing(&mut self, descriptor: &'static Descriptor, given: &[Option<Span>], span: Span) {
        let missing = descriptor.params.iter().zip(given).filter(|(param, given)| {
            given.is_none() && matches!(param.presence, Presence::Required)
        });
        let names: Vec<&str> = missing.map(|(param, _)| param.name).collect();
        if !names.is_empty() {
            let message = format!("`@{}` needs {}", descriptor.path, listed(names));
            self.error(Code::MissingArgument, span, message, form(descriptor));
        }
        self.one_of(descriptor, given, span);
    }

    fn one_of(&mut self, descriptor: &'static Descriptor, given: &[Option<Span>], span: Span) {
        let one_of = descriptor.one_of;
        let params = descriptor.params.iter().zip(given);
        let given = params.filter(|(param, _)| one_of.contains(&param.name));
        let given: Vec<(&str, Span)> =
            given.filter_map(|(param, span)| Some((param.name, (*span)?))).collect();
        let names = listed(one_of.iter().copied());
        match given[..] {
            [] if !one_of.is_empty() => {
                let message = format!("`@{}` needs one of {names}", descriptor.path);
                self.error(Code::MissingArgument, span, message, form(descriptor));
            }
            [(first, place), (second, again), ..] => {
                let message = format!("`{second}` is given, and so is `{first}`");
                let error = Diagnostic::new(Code::RepeatedArgument, again, message);
                let help = format!("give exactly one of {names}");
                self.report(error.also(place, "first here").help(help));
            }
            _ => {}
        }
    }
}

fn int_literal(value: &Expr) -> Option<i64> {
    match &value.kind {
        ExprKind::Literal(Value::Int(given)) => Some(*given),
        ExprKind::Unary { ops, operand } if ops.len() == 1 => int_literal(operand)?.checked_neg(),
        _ => None,
    }
}

/// How a decorator is written, with what it must be given.
fn form(descriptor: &Descriptor) -> String {
    let params: Vec<String> = descriptor
        .params
        .iter()
        .take(4)
        .map(|param| match &param.presence {
            Presence::Required => param.name.to_owned(),
            Presence::Optional => format!("{}=…", param.name),
            Presence::Default(value) => format!("{}={value}", param.name),
        })
        .collect();
    let more = if descriptor.params.len() > 4 { ", …" } else { "" };
    format!("write `@{}({}{more})`", descriptor.path, params.join(", "))
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
