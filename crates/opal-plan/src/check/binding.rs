//! Arguments of a source text bound to parameters, for the checks and for the planner.

use opal_core::decorator::{Descriptor, Param, Presence, Subject};
use opal_core::parameter::{BindError, Binding, Known, Mismatch, Origin, Parameter, expected};
use opal_core::shell::Language;
use opal_core::{Code, Diagnostic, Span, Type, Value, suggest};

use crate::unit::{self, Argument, CallKind, Expr, ExprKind};

impl Parameter for unit::Param {
    fn name(&self) -> &str {
        &self.name.text
    }

    fn is_required(&self) -> bool {
        self.default.is_none()
    }

    fn is_rest(&self) -> bool {
        self.rest
    }
}

/// What an argument of a decorator is bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// The parameter of this index.
    Param(usize),
    /// Its own name, where the decorator takes any.
    Open,
}

/// A name in the path may be the argument of a parameter.
pub(crate) fn bind_subject(
    descriptor: &'static Descriptor,
    has_subject: bool,
    span: Span,
    binding: &mut Binding<'_, Param, Span>,
) {
    if let (Subject::OrParam(name), true) = (descriptor.subject, has_subject) {
        // It comes first, so nothing can have been given before.
        let _ = binding.by_name(name, span);
    }
}

/// The argument that names the program its text is for: by its name, or by its position.
pub(crate) fn shell_of<'a>(
    descriptor: &'static Descriptor,
    args: &'a [Argument],
    has_subject: bool,
) -> Option<&'a Argument> {
    let mut binding = Binding::new(descriptor.params);
    bind_subject(descriptor, has_subject, Span::at(0), &mut binding);
    args.iter().find(|arg| {
        let bound = bind(descriptor, arg, &mut binding);
        matches!(bound, Ok(Bound::Param(index)) if descriptor.params[index].name == "shell")
    })
}

/// The program that a text is for, where the arguments name one that is not a shell.
pub(crate) fn foreign<'a>(
    descriptor: &'static Descriptor,
    args: &'a [Argument],
    has_subject: bool,
) -> Option<&'a str> {
    let shell = shell_of(descriptor, args, has_subject)?;
    let ExprKind::Literal(Value::String(program)) = &shell.value.kind else { return None };
    matches!(Language::of(program), Language::Other { .. }).then_some(program)
}

pub(crate) fn bind(
    descriptor: &'static Descriptor,
    arg: &Argument,
    binding: &mut Binding<'_, Param, Span>,
) -> Result<Bound, BindError<Span>> {
    let Some(name) = &arg.name else { return binding.by_position(arg.span).map(Bound::Param) };
    match binding.by_name(&name.text, arg.span) {
        Err(BindError::Unknown) if descriptor.open_params.is_some() => Ok(Bound::Open),
        bound => bound.map(Bound::Param),
    }
}

/// Why an argument of a decorator is for none of its parameters.
pub(crate) fn decorator_error(
    descriptor: &'static Descriptor,
    arg: &Argument,
    error: BindError<Span>,
) -> Diagnostic {
    let path = descriptor.path;
    match error {
        BindError::TooMany => {
            let takes = match descriptor.params.len() {
                0 if descriptor.open_params.is_some() => "takes only named arguments".to_owned(),
                0 => "takes no arguments".to_owned(),
                1 => "takes one argument".to_owned(),
                count => format!("takes {count} arguments"),
            };
            let help = match path {
                "var" | "let" => {
                    format!("to follow it with text in parentheses, write `@{path}.NAME()(…)`")
                }
                "environ" => "write `@environ(NAME=\"value\") { … }`".to_owned(),
                _ => form(descriptor),
            };
            let message = format!("`@{path}` {takes}");
            Diagnostic::new(Code::TooManyArguments, arg.span, message).help(help)
        }
        BindError::Unknown => {
            let (name, span) = match &arg.name {
                Some(name) => (name.text.as_str(), name.span),
                None => ("", arg.span),
            };
            let names = descriptor.params.iter().map(|param| param.name);
            let near = suggest::nearest(name, names.clone());
            let message = format!("`@{path}` has no argument `{name}`");
            let error = Diagnostic::new(Code::UnknownArgument, span, message)
                .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
                .help(expected(names));
            match near {
                Some(near) => error.fix(format!("write `{near}`"), span, near),
                None => error,
            }
        }
        BindError::Repeated { index, first } => {
            repeated(descriptor.params[index].name, arg.span, first)
        }
    }
}

/// Why an argument of a function of the file is for none of its parameters.
pub(crate) fn function_error(
    kind: CallKind,
    function: &unit::Function,
    arg: &Argument,
    error: BindError<Span>,
) -> Diagnostic {
    let path = &function.name.text;
    match (error, &arg.name) {
        (BindError::Repeated { index, first }, _) => {
            repeated(&function.params[index].name.text, arg.span, first)
        }
        (BindError::Unknown, Some(name)) => {
            let names = function.params.iter().map(|param| param.name.text.as_str());
            let near = suggest::nearest(&name.text, names);
            let message = format!("`{path}` has no parameter `{}`", name.text);
            Diagnostic::new(Code::UnknownArgument, name.span, message)
                .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
                .help(signature(kind, function))
        }
        _ => {
            let message = format!("too many arguments for `@{}.{path}`", kind.decorator());
            let help = signature(kind, function);
            Diagnostic::new(Code::TooManyArguments, arg.span, message).help(help)
        }
    }
}

/// A parameter that gets its argument twice.
pub(crate) fn repeated(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code::RepeatedArgument, span, format!("`{name}` is given twice"))
        .also(first, "first here")
        .help("remove one of them")
}

/// How a decorator is written, with what it must be given.
pub(crate) fn form(descriptor: &Descriptor) -> String {
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

/// How a function of the file is called.
pub(crate) fn signature(kind: CallKind, function: &unit::Function) -> String {
    let params: Vec<String> = function
        .params
        .iter()
        .take(12)
        .map(|param| match (&param.default, param.rest) {
            (_, true) => format!("{}...", param.name.text),
            (Some(_), _) => format!("{}=…", param.name.text),
            (None, _) => param.name.text.clone(),
        })
        .collect();
    let (space, name) = (kind.decorator(), &function.name.text);
    format!("call it as `@{space}.{name}({})`", params.join(", "))
}

/// An expression as far as the source text tells: its type, and the value of a literal.
#[derive(Debug)]
pub(super) struct Written<'e> {
    ty: Type,
    literal: Option<Value>,
    expr: &'e Expr,
}

impl<'e> Written<'e> {
    pub(super) fn new(expr: &'e Expr, ty: Type) -> Self {
        let literal = match &expr.kind {
            ExprKind::Literal(value @ Value::String(_)) => Some(value.clone()),
            _ => int_literal(expr).map(Value::Int),
        };
        Self { ty, literal, expr }
    }

    pub(super) fn refused(&self, name: &str, mismatch: &Mismatch) -> Diagnostic {
        let text = match &self.literal {
            Some(Value::String(text)) => text.to_string(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        mismatch.diagnostic(name, Origin::Literal(&text), self.expr.span)
    }
}

impl Known for Written<'_> {
    fn type_of(&self) -> Type {
        self.ty.clone()
    }

    fn as_text(&self) -> Option<&str> {
        self.literal.as_ref().and_then(Known::as_text)
    }

    fn as_int(&self) -> Option<i64> {
        self.literal.as_ref().and_then(Known::as_int)
    }

    fn all(&self, _: &dyn Fn(&dyn Known) -> bool) -> Option<bool> {
        None
    }
}

fn int_literal(value: &Expr) -> Option<i64> {
    match &value.kind {
        ExprKind::Literal(Value::Int(given)) => Some(*given),
        ExprKind::Unary { ops, operand } if ops.len() == 1 => int_literal(operand)?.checked_neg(),
        _ => None,
    }
}
