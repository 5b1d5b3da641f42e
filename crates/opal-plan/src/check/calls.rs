//! Steps: decorators where commands are, and the redirections between them.

use opal_core::decorator::{Block as BlockPolicy, Descriptor};
use opal_core::shell::{Quotes, Seen};
use opal_core::{Code, Diagnostic, Span, Type, Value, suggest};

use super::binding::shell_of;
use super::checker::Checker;
use super::lets::Site;
use super::observer::{Callee, Observer};
use crate::unit::{
    Access, Argument, Call, CallKind, ExprKind, Name, Operand, Piece, Redirect, ShellText, Step,
    Target, Work,
};

impl<O: Observer> Checker<'_, O> {
    pub(super) fn step(&mut self, step: &Step, span: Span) {
        if let Some(call) = step.dependency() {
            return self.dependency(call, true);
        }
        self.note_step(span);
        self.operand(&step.first);
        for (_, operand) in &step.rest {
            self.operand(operand);
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match &operand.work {
            Work::Shell(text) => self.shell_text(text),
            Work::Call(call) => {
                if let Some(descriptor) = self.call(call) {
                    self.uncaptured(descriptor, call);
                }
            }
        }
        for redirect in &operand.redirects {
            self.redirect(redirect);
            if let (Work::Call(call), Target::Text(text)) = (&operand.work, &redirect.target) {
                self.redirected_call(call, text);
            }
        }
    }

    /// No single shell runs a block, a call of a function or the command of another interpreter, so
    /// no shell can redirect it.
    fn redirected_call(&mut self, call: &Call, text: &ShellText) {
        let path = call.path.text.as_str();
        let is_input = is_input(text);
        let what = if call.block.is_some() {
            format!("the block of `@{path}`")
        } else if call.function().is_some() {
            format!("the call `@{path}`")
        } else if self
            .registry()
            .get(path)
            .is_some_and(|it| shell_of(it, &call.args, false).is_some())
        {
            "the command of another shell".to_owned()
        } else if !matches!(path, "shell" | "script") && is_input {
            format!("the input of `@{path}`")
        } else {
            return;
        };
        let message = format!("{what} cannot be redirected as in the shell");
        let help = if is_input {
            "read the file with `< @file.read(\"FILE\")`"
        } else {
            "pipe it: `… | cat > FILE`; write `> @file.write(\"FILE\")`, which keeps the file \
             only on success; or redirect the commands inside"
        };
        self.error(Code::RedirectedCall, text.span, message, help);
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let call = match &redirect.target {
            Target::Text(text) => return self.redirection_text(text),
            Target::Decorator(call) => call,
        };
        let path = match call.function() {
            Some((kind, _)) => kind.decorator(),
            None => call.path.text.as_str(),
        };
        let Some((descriptor, named)) = self.descriptor(path) else {
            self.unknown_path(&call.path, call.span, true);
            return;
        };
        let path = Span::new(call.path.span.start.saturating_sub(1), call.path.span.end);
        self.observer.called(path, Callee::Decorator(descriptor));
        let reads = redirect.operator.kind.is_input();
        let fits = if reads { descriptor.reads } else { descriptor.writes };
        if !fits {
            let message = format!("`@{}` cannot follow `{}`", call.path.text, redirect.operator);
            let help = if reads {
                "read from a file or from `@file.read(\"path\")`"
            } else {
                "write to a file or to `@file.write(\"path\")`"
            };
            self.error(Code::NotAnEndpoint, call.span, message, help);
        }
        if call.function().is_none() {
            self.arguments(descriptor, &call.args, call.span, named, Site::Run);
        }
    }

    /// A decorator as a command; says what it returns.
    fn call(&mut self, call: &Call) -> Option<&'static Descriptor> {
        let descriptor = match call.function() {
            Some((CallKind::First, _)) => {
                self.dependency(call, false);
                return None;
            }
            Some((kind, function)) => {
                self.function_call_site(kind, function, call);
                self.registry().get(kind.decorator())
            }
            None => self.descriptor(&call.path.text).map(|(descriptor, _)| descriptor),
        };
        let span = Span::new(call.path.span.start.saturating_sub(1), call.path.span.end);
        let Some(descriptor) = descriptor else {
            self.unknown_call(&call.path, span);
            self.argument_values(&call.args, Site::Run);
            if let Some(block) = &call.block {
                self.block(block, false);
            }
            return None;
        };
        if call.function().is_none() {
            self.observer.called(span, Callee::Decorator(descriptor));
        }
        if matches!(call.path.text.as_str(), "var" | "env" | "let") {
            self.nameless(&call.path.text, span, &call.args);
        } else if let path @ ("cmd" | "needs") = call.path.text.as_str() {
            let message = format!("`@{path}` needs the name of a function");
            let help = format!("name the function: `@{path}.NAME()`");
            self.error(Code::UnknownFunction, span, message, help);
        } else if call.function().is_none() {
            // Every question is asked before the first step, so it cannot hold what a step gave.
            let site = if descriptor.path == "confirm" { Site::Question } else { Site::Run };
            if self.only_endpoint(descriptor, span) {
                self.argument_values(&call.args, site);
            } else {
                self.arguments(descriptor, &call.args, call.span, false, site);
                self.expanded(descriptor, call, span);
            }
        }
        if descriptor.path == "rethrow" && self.catches == 0 {
            let message = "`@rethrow()` is allowed only in a `catch`";
            let help = "put it in the `catch`; `@fail(\"…\")` fails anywhere";
            self.error(Code::MisplacedDecorator, span, message, help);
        }
        self.block_policy(descriptor, call, span);
        self.block_rules(descriptor, call);
        self.identified(descriptor, call, span);
        Some(descriptor)
    }

    /// Whether a call says which object of the world it is about.
    fn identified(&mut self, descriptor: &Descriptor, call: &Call, span: Span) {
        let Some(identified) = descriptor.identified else { return };
        let given = call.args.iter().enumerate().filter_map(|(index, arg)| match &arg.name {
            Some(name) => Some(name.text.as_str()),
            None => descriptor.params.get(index).map(|param| param.name),
        });
        if let Some(fault) = identified.fault(&given.collect::<Vec<_>>()) {
            let error = Diagnostic::new(fault.code, span, fault.message);
            self.report(fault.help.into_iter().fold(error, Diagnostic::help));
        }
    }

    /// An option that shapes the result, where nothing takes the result.
    fn uncaptured(&mut self, descriptor: &Descriptor, call: &Call) {
        if let Some(arg) = any_result(descriptor, call) {
            let option = descriptor.any_with.unwrap_or_default();
            let message = format!("`{option}` requires a `let`, but nothing captures this result");
            let help = format!("write `let.NAME = @{}(…, {option}=true)`", descriptor.path);
            self.error(Code::UncapturedOption, arg.span, message, help);
        }
    }

    /// What can only follow a redirection does nothing as a command.
    fn only_endpoint(&mut self, descriptor: &Descriptor, span: Span) -> bool {
        let is_endpoint = descriptor.writes || descriptor.reads;
        let only = is_endpoint && !descriptor.is_value() && descriptor.action.is_none();
        if only {
            let path = descriptor.path;
            let message = format!("`@{path}` is the target of a redirection, not a command");
            let operator = if descriptor.writes { '>' } else { '<' };
            let help = format!("write `command {operator} @{path}(…)`");
            self.error(Code::MisplacedDecorator, span, message, help);
        }
        only
    }

    fn unknown_call(&mut self, path: &Name, span: Span) {
        // At the start of a line Make writes `@` to keep a command quiet.
        let word = !path.text.contains('.');
        let near = self.registry().nearest(&path.text);
        if word && near.is_none() {
            let message = format!("unknown decorator `@{}`", path.text);
            let error = Diagnostic::new(Code::UnknownDecorator, span, message).help(format!(
                "a command has no `@` before it, unlike in Make: write `{} …`",
                path.text
            ));
            self.report(error);
            return;
        }
        self.unknown_path(path, span, true);
    }

    pub(super) fn block_policy(&mut self, descriptor: &Descriptor, call: &Call, span: Span) {
        let path = descriptor.path;
        match (&call.block, descriptor.block) {
            (None, BlockPolicy::Text) if call.text.is_none() => self.error(
                Code::BlockMissing,
                span,
                format!("`@{path}` needs a text in a block"),
                format!("write `@{path}(…) {{`, the text on the lines below, and `}}` after it"),
            ),
            (None, BlockPolicy::Required) => self.error(
                Code::BlockMissing,
                span,
                format!("`@{path}` needs a block"),
                format!("write `@{path}(…) {{ … }}`, with the `{{` on the same line"),
            ),
            (Some(block), BlockPolicy::Forbidden) => {
                let open = Span::new(block.span.start, block.span.start + 1);
                let message = format!("`@{path}` does not accept a block");
                let help = "put the steps of the block below it";
                self.error(Code::BlockNotAllowed, open, message, help);
            }
            _ => {}
        }
        if let Some(block) = &call.block {
            self.at_run_time(&format!("@{path}"), |checker| {
                checker.with_environment(descriptor, &call.args, |checker| {
                    checker.block(block, path == "parallel");
                });
            });
        }
    }

    pub(super) fn r#let(&mut self, name: &Name, source: &Call, access: &[Access]) {
        let span = Span::new(source.path.span.start.saturating_sub(1), source.path.span.end);
        if let Some(space @ ("var" | "env" | "let")) =
            source.path.text.split_once('.').map(|(space, _)| space)
        {
            let path = &source.path.text;
            let help = format!(
                "for a value that is known before anything runs, write `var {} = @{path}`",
                name.text
            );
            let message = format!("`@{space}` is not a decorator that runs");
            self.error(Code::LetWithoutResult, span, message, help);
            return self.bind_broken_let(name);
        }
        let registered = self.descriptor(&source.path.text).map(|(descriptor, _)| descriptor);
        if let Some(descriptor) = registered.filter(|descriptor| descriptor.is_value()) {
            let path = descriptor.path;
            self.argument_values(&source.args, Site::Run);
            let message = format!("`@{path}` is resolved before anything runs");
            let help = format!("use a variable: `var {} = @{path}(…)`", name.text);
            self.error(Code::LetWithoutResult, span, message, help);
            return self.bind_broken_let(name);
        }
        let descriptor = self.call(source);
        let mut ty = Type::Any;
        if let Some(descriptor) = descriptor {
            match &descriptor.returns {
                Some(_) if any_result(descriptor, source).is_some() => {}
                Some(returns) => ty = returns.ty.clone(),
                None => {
                    let message = format!("`@{}` returns nothing", descriptor.path);
                    let help = "capture a command: `let.NAME = @shell(\"…\")`";
                    self.error(Code::LetWithoutResult, span, message, help);
                    return self.bind_broken_let(name);
                }
            }
        }
        for step in access {
            ty = match step {
                Access::All(_) => ty,
                Access::Field(field) => self.field(ty, field, None),
                Access::Index(index) => {
                    let given = self.expression(index, Site::Run);
                    self.index(ty, &given, index)
                }
            };
        }
        self.bind_let(name, ty);
    }

    /// Says that no function has this name.
    pub(super) fn unknown_function_call(&mut self, kind: CallKind, function: &str, span: Span) {
        let near = if self.may_suggest(self.unit.functions.len()) {
            let names: Vec<String> = self.functions.by_name.all(self.file).collect();
            suggest::nearest(function, names.iter().map(String::as_str)).map(str::to_owned)
        } else {
            None
        };
        let mut error =
            Diagnostic::new(Code::UnknownFunction, span, format!("unknown function `{function}`"));
        error = match near {
            Some(near) => {
                let call = format!("@{}.{near}", kind.decorator());
                let error = error.help(format!("did you mean `{call}`?"));
                error.fix(format!("write `{call}`"), span, call)
            }
            None => error.help(format!("declare it at the top level: `fun {function}() {{ … }}`")),
        };
        self.report(error);
    }
}

/// The argument that makes the result any value; a constant `false` does not.
fn any_result<'c>(descriptor: &Descriptor, call: &'c Call) -> Option<&'c Argument> {
    let option = descriptor.any_with?;
    let is_it = |arg: &&Argument| arg.name.as_ref().is_some_and(|name| name.text == option);
    let arg = call.args.iter().find(is_it)?;
    (!matches!(arg.value.kind, ExprKind::Literal(Value::Bool(false)))).then_some(arg)
}

/// Whether a redirection reads: its operator, and not a `<` in a name.
fn is_input(text: &ShellText) -> bool {
    let mut quotes = Quotes::default();
    let texts = text.pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.chars()),
        _ => None,
    });
    texts.flatten().any(|c| quotes.see(c) == Seen::Bare && c == '<')
}
