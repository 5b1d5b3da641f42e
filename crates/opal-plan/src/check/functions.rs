//! Functions: unique, acyclic, called with what they take.

use std::collections::BTreeMap;

use opal_core::decorator::Descriptor;
use opal_core::parameter::{BindError, Binding, expected, listed};
use opal_core::{Code, Diagnostic, Span, Type, suggest};

use super::binding::{function_error, signature};
use super::checker::Checker;
use super::commands::commands;
use super::lets::Site;
use super::observer::{Callee, Definition, DefinitionKind, Given, Observer, Use};
use crate::unit::{
    Argument, Call, CallKind, Expr, ExprKind, Function, FunctionNames, Param, Reference,
    StatementKind, StrPiece, Unit, Work,
};

#[derive(Debug)]
pub(super) struct Functions<'u> {
    pub(super) by_name: &'u FunctionNames<'u>,
    /// Calls from one function to another, in source order.
    pub(super) calls: Vec<(usize, usize, Span)>,
    /// Functions that the script calls.
    pub(super) script_calls: Vec<usize>,
    /// The first place where a parameter shapes the plan.
    pub(super) shapes: BTreeMap<(usize, usize), (Span, Site)>,
    /// A parameter of one function handed on to a parameter of another.
    pub(super) hands_on: BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    /// Run-time values given to a parameter.
    pub(super) run_time: Vec<((usize, usize), Span)>,
}

impl<'u> Functions<'u> {
    pub(super) fn new(by_name: &'u FunctionNames<'u>) -> Self {
        Self {
            by_name,
            calls: Vec::new(),
            script_calls: Vec::new(),
            shapes: BTreeMap::new(),
            hands_on: BTreeMap::new(),
            run_time: Vec::new(),
        }
    }
}

/// Functions whose name an earlier one has.
pub(super) fn duplicates<'u>(
    unit: &'u Unit,
    names: &'u FunctionNames<'u>,
) -> impl Iterator<Item = Diagnostic> + 'u {
    names.repeated().map(|(again, first)| {
        let name = &unit.functions[again].name;
        let message = format!("the function `{}` is defined twice", name.text);
        let first = unit.functions[first].name.span;
        Diagnostic::new(Code::DuplicateFunction, name.span, message)
            .also(first, "first here")
            .help("give one of them another name")
    })
}

impl<O: Observer> Checker<'_, O> {
    /// Signatures: names that occur twice, types that do not exist, defaults that do not fit.
    pub(super) fn declare_functions(&mut self) {
        let unit = self.unit;
        duplicates(unit, self.functions.by_name).for_each(|error| self.report(error));
        for (index, function) in unit.functions.iter().enumerate() {
            self.file = unit.file_of(index);
            let (name, span) = (&*function.name.text, function.name.span);
            let kind = DefinitionKind::Function;
            self.observer.define(Definition { kind, name, span, ty: &Type::Any });
            self.parameters(function);
            self.makefile_label(function);
        }
    }

    fn parameters(&mut self, function: &Function) {
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for (index, param) in function.params.iter().enumerate() {
            if let Some(first) = seen.insert(&param.name.text, param.name.span) {
                let message = format!("duplicate parameter `{}`", param.name.text);
                let error = Diagnostic::new(Code::BadParameters, param.name.span, message);
                self.report(error.also(first, "first here").help("rename one of them"));
            }
            if param.rest && index + 1 != function.params.len() {
                let message = format!(
                    "`{}...` takes the remaining arguments, so it must be last",
                    param.name.text
                );
                let help = "move it to the end of the list";
                self.error(Code::BadParameters, param.name.span, message, help);
            }
            if param.rest && param.default.is_some() {
                let message = format!(
                    "`{}...` cannot have a default: it is empty when no argument is given",
                    param.name.text
                );
                self.error(Code::BadParameters, param.name.span, message, "remove the default");
            }
            self.parameter_declaration(param);
        }
    }

    fn parameter_declaration(&mut self, param: &Param) {
        if let Some(written) = &param.ty
            && written.ty.is_none()
        {
            let name = &written.written;
            let near = suggest::nearest(name, Type::NAMES).or(match name.as_str() {
                "Integer" | "Number" | "number" | "integer" => Some("Int"),
                "Boolean" | "boolean" => Some("Bool"),
                "List" | "list" => Some("Array"),
                "Object" | "Dict" | "dict" => Some("Map"),
                "Text" | "Str" | "str" => Some("String"),
                _ => None,
            });
            let mut error =
                Diagnostic::new(Code::UnknownType, written.span, format!("unknown type `{name}`"))
                    .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
                    .help(expected(Type::NAMES))
                    .help("write a closed set as `\"a\" | \"b\"`");
            if let Some(near) = near.filter(|near| near.eq_ignore_ascii_case(name)) {
                error = error.fix(format!("write `{near}`"), written.span, near);
            }
            self.report(error);
        }
    }

    /// A default may read the variables of the top and the parameters before it.
    pub(super) fn parameter_default(&mut self, param: &Param) {
        if let Some(default) = &param.default {
            let wanted = param.ty.as_ref().and_then(|written| written.ty.clone());
            let wanted = wanted.unwrap_or(Type::Any);
            if !self.unquoted_choice(&wanted, default) {
                let given = self.expression(default, Site::Default);
                self.fits(&param.name.text, &wanted, &given, default);
            }
        }
    }

    pub(super) fn parameter_type(&mut self, param: &Param) -> Type {
        if param.rest {
            return Type::array(Type::String);
        }
        param.declared_type()
    }

    /// `test: build lint`, as a Makefile says that one task needs others.
    fn makefile_label(&mut self, function: &Function) {
        if !function.label {
            return;
        }
        let [statement] = function.body.statements.as_slice() else { return };
        let StatementKind::Step(step) = &statement.kind else { return };
        let Work::Shell(text) = &step.first.work else { return };
        let Some(text) = text.literal().filter(|_| step.rest.is_empty()) else {
            return;
        };
        let name = &function.name.text;
        let words: Vec<&str> = commands(text).into_iter().flatten().collect();
        let is_function = |word: &&str| self.function_named(word).is_some();
        if words.iter().all(is_function) {
            let calls: Vec<String> = words.iter().map(|word| format!("@needs.{word}()")).collect();
            let message =
                format!("`{text}` would run as a command, but consists of function names");
            let calls = calls.join(" ⏎ ");
            let help = format!("for dependencies, write `fun {name}() {{ {calls} }}`, one a line");
            self.error(Code::LabelWithoutBody, statement.span, message, help);
        }
    }

    /// `@cmd.NAME(…)` or `@needs.NAME(…)` against the function's parameters.
    pub(super) fn function_call_site(&mut self, kind: CallKind, name: &str, call: &Call) {
        let site = match kind {
            CallKind::Here => Site::Run,
            CallKind::First => Site::Dependency,
        };
        let span = Span::new(call.path.span.start.saturating_sub(1), call.path.span.end);
        let Some(callee) = self.callee(kind, name, span) else {
            self.argument_values(&call.args, site);
            return;
        };
        match self.function {
            Some(caller) => self.functions.calls.push((caller, callee, span)),
            None => self.functions.script_calls.push(callee),
        }
        let function = &self.unit.functions[callee];
        self.observer.called(span, Callee::Function(callee));
        let mut binding = Binding::new(&function.params);
        let mut lost = false;
        for arg in &call.args {
            if arg.name.is_none() && arg.value.is_spread() {
                // How many arguments it gives is known only with its value.
                lost = true;
                self.spread_argument(arg);
                continue;
            }
            let bound = match &arg.name {
                Some(name) => binding.by_name(&name.text, arg.span),
                None => binding.by_position(arg.span),
            };
            let index = match bound {
                Ok(index) => index,
                Err(error) => {
                    self.report(function_error(kind, function, arg, error));
                    let BindError::Repeated { index, .. } = error else {
                        self.expression(&arg.value, site);
                        lost = true;
                        continue;
                    };
                    index
                }
            };
            self.given(call.span, callee, index, arg);
            self.callee_argument(callee, index, arg, site);
        }
        let missing: Vec<&Param> = binding.missing().collect();
        if let (Some(first), false) = (missing.first(), lost) {
            let names = missing.iter().map(|param| param.name.text.as_str());
            let message = format!("`@{}.{name}` needs {}", kind.decorator(), listed(names));
            let error = Diagnostic::new(Code::MissingArgument, call.span, message)
                .also(first.name.span, "declared here")
                .help(signature(kind, function));
            self.report(error);
        }
    }

    /// Tells which parameter of a function an argument is for.
    fn given(&mut self, call: Span, callee: usize, index: usize, arg: &Argument) {
        let name = arg.name.as_ref().map(|name| name.span);
        if let Some(span) = name {
            let definition = self.unit.functions[callee].params[index].name.span;
            self.observer.refer(Use { span, definition, writes: false });
        }
        let (callee, param, span) = (Callee::Function(callee), Some(index), arg.span);
        self.observer.given(Given { call, callee, param, name, span });
    }

    fn spread_argument(&mut self, arg: &Argument) {
        let ty = self.expression(&arg.value, Site::Computed);
        if !matches!(ty, Type::Array(_) | Type::Map(_) | Type::Object(_) | Type::Any) {
            let message = format!("{} has no elements to spread", ty.with_article());
            self.error(Code::WrongType, arg.span, message, "pass the value itself, without `.*`");
        }
    }

    fn callee_argument(&mut self, callee: usize, index: usize, arg: &Argument, site: Site) {
        let param = &self.unit.functions[callee].params[index];
        let wanted = param.declared_type();
        if self.unquoted_choice(&wanted, &arg.value) {
            return;
        }
        let given = self.expression(&arg.value, site);
        if param.rest {
            return;
        }
        self.fits(&param.name.text, &wanted, &given, &arg.value);
        self.hand_on(callee, index, arg);
    }

    /// A call of a decorator that is written in opal: its arguments have been checked like those of any
    /// decorator, and what holds for calls of functions holds for it.
    pub(super) fn expanded(&mut self, descriptor: &Descriptor, call: &Call, span: Span) {
        let Some(callee) = descriptor.expansion.and_then(|it| self.unit.expansion(it)) else {
            return;
        };
        match self.function {
            Some(caller) => self.functions.calls.push((caller, callee, span)),
            None => self.functions.script_calls.push(callee),
        }
        let mut binding = Binding::new(&self.unit.functions[callee].params);
        for arg in &call.args {
            let bound = match &arg.name {
                Some(name) => binding.by_name(&name.text, arg.span),
                None => binding.by_position(arg.span),
            };
            if let Ok(index) = bound {
                self.hand_on(callee, index, arg);
            }
        }
    }

    /// Notes which values of the caller become a parameter of the called function.
    fn hand_on(&mut self, callee: usize, index: usize, arg: &Argument) {
        let key = (callee, index);
        let mut names = Vec::new();
        collect_names(&arg.value, &mut names);
        for (space, name) in names {
            if space == "let" {
                self.functions.run_time.push((key, arg.span));
            } else if let (Some(caller), Some(param)) = (self.function, self.parameter(&name)) {
                self.functions.hands_on.entry((caller, param)).or_default().push(key);
            }
        }
    }
}

/// The variables and bindings that an argument is made of.
fn collect_names(expr: &Expr, into: &mut Vec<(&'static str, String)>) {
    let mut reference = |reference: &Reference| match reference.named() {
        Some(("let", name)) => into.push(("let", name.to_owned())),
        Some(("var", name)) => into.push(("var", name.to_owned())),
        _ => {}
    };
    match &expr.kind {
        ExprKind::Reference(found) => reference(found),
        ExprKind::Name(name) => into.push(("var", name.clone())),
        ExprKind::Str(pieces) => {
            for piece in pieces {
                if let StrPiece::Reference(found) = piece {
                    reference(found);
                }
            }
        }
        ExprKind::Array(elements) => elements.iter().for_each(|e| collect_names(e, into)),
        ExprKind::Map(entries) => entries.iter().for_each(|(_, e)| collect_names(e, into)),
        ExprKind::Function { args, .. } => args.iter().for_each(|a| collect_names(&a.value, into)),
        ExprKind::Access { base, .. } => collect_names(base, into),
        ExprKind::Unary { operand, .. } => collect_names(operand, into),
        ExprKind::Binary { first, rest } => {
            collect_names(first, into);
            rest.iter().for_each(|(_, _, e)| collect_names(e, into));
        }
        ExprKind::Missing | ExprKind::Literal(_) | ExprKind::Regex(_) => {}
    }
}
