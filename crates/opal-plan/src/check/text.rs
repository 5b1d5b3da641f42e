//! References inside shell text: each is data, and its place must allow that.

use opal_core::resolver::ScriptPart;
use opal_core::script::{Refusal, Role, admit_type};
use opal_core::{Code, Diagnostic, Span, Type};
use opal_syntax::context::Context;

use super::checker::{Checker, CommandText};
use super::lets::Site;
use super::observer::Observer;
use crate::unit::{Access, Name, Piece, Reference, ShellText};
use opal_core::shell::stand_in;

impl<O: Observer> Checker<'_, O> {
    pub(super) fn shell_text(&mut self, text: &ShellText) {
        if self.assigned_reference(text) {
            return;
        }
        for piece in &text.pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::AtWord(path) => self.at_word(path),
                Piece::Reference(reference, context) => self.text_reference(reference, *context),
            }
        }
        self.environment_text(text);
        self.value_with_block(text);
        self.habits(text);
        self.collect_text("", text);
    }

    /// Redirections without the command before them.
    pub(super) fn redirection_text(&mut self, text: &ShellText) {
        let collects = std::mem::replace(&mut self.collects, false);
        self.shell_text(text);
        self.collects = collects;
        // Words after a decorator that is none have had their error.
        let begins = |c: char| c.is_ascii_digit() || matches!(c, '<' | '>' | '&');
        if text.leading().trim_start().starts_with(begins) {
            self.collect_text("{ :\n}", text);
        }
    }

    /// Keeps a text for the shell's parser; what is pasted is known only to the plan.
    pub(super) fn collect_text(&mut self, before: &str, text: &ShellText) {
        let is_pasted =
            |piece: &Piece| matches!(piece, Piece::Reference(it, _) if it.path.text == "raw");
        if !self.collects || text.pieces.iter().any(is_pasted) {
            return;
        }
        let before = (!before.is_empty()).then(|| ScriptPart::Text(before.to_owned()));
        let parts = text.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => ScriptPart::Text(text.clone()),
            Piece::AtWord(name) => ScriptPart::Text(format!("@{}", name.text)),
            Piece::Reference(_, context) => ScriptPart::Data(stand_in(*context), *context),
        });
        let parts = before.into_iter().chain(parts).collect();
        self.texts.push(CommandText { span: text.span, parts });
    }

    /// `@name.ext`: text, unless it is a typo.
    pub(super) fn at_word(&mut self, path: &Name) {
        let span = Span::new(path.span.start.saturating_sub(1), path.span.end);
        self.unknown_path(path, span, false);
    }

    /// The text of a command argument: a value decorator's argument may hold no run-time values.
    pub(super) fn shell_argument_text(&mut self, text: &ShellText, site: Site) {
        if site != Site::Run {
            for piece in &text.pieces {
                if let Piece::Reference(reference, _) = piece
                    && let Some(("let", name)) = reference.named()
                {
                    self.read_let(name, reference.span, site);
                }
            }
        }
        self.shell_text(text);
    }

    fn text_reference(&mut self, reference: &Reference, context: Context) {
        let path = &reference.path.text;
        let runs =
            || path.starts_with("cmd.") || self.registry().get(path).is_some_and(|d| !d.is_value());
        if context.is_command() && runs() {
            // The shell's brackets around it have been reported.
            return self.argument_values(&reference.args, Site::Run);
        }
        let ty = self.reference(reference, Site::Run);
        if reference.path.text == "raw" {
            return;
        }
        let warned = context.found().filter(|case| case.role == Role::Warn);
        if let Some(case) = warned.filter(|_| !self.is_plain_value(reference, &ty)) {
            let message = format!("`@{path}` can become code: {}", case.why);
            let help = "check the value first, or pass it in a way that the program treats as data";
            self.report(Diagnostic::new(Code::ValueInCode, reference.span, message).help(help));
        }
        match admit_type(context, &ty) {
            Err(Refusal::Collection(_)) => self.not_a_collection(&ty, reference, "inside text"),
            Err(refusal) => {
                let name = format!("@{path}");
                let error = Diagnostic::new(refusal.code(), reference.span, refusal.message(&name));
                self.report(refusal.help(&name).into_iter().fold(error, Diagnostic::help));
            }
            Ok(()) if matches!(ty, Type::Array(_)) => {}
            Ok(()) => self.not_a_collection(&ty, reference, "inside text"),
        }
    }

    /// Whether no program sees code in it: numbers, members of a closed set, plain words of the source.
    fn is_plain_value(&self, reference: &Reference, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Float | Type::Duration | Type::OneOf(_) => true,
            Type::String => matches!(reference.named(), Some(("var", name))
                if reference.access.is_empty() && self.names.is_plain(name)),
            _ => false,
        }
    }

    /// An array or a map has no one text.
    pub(super) fn not_a_collection(&mut self, ty: &Type, reference: &Reference, place: &str) {
        let all = matches!(reference.access.last(), Some(Access::All(_)));
        let what = match ty {
            Type::Array(_) => "an array",
            Type::Map(_) => "a map",
            _ if all && *ty != Type::Any => "all elements of a value",
            _ => return,
        };
        let path = &reference.path.text;
        let message = format!("`@{path}` is {what}, which has no single form {place}");
        let help = match ty {
            Type::Array(_) => format!(
                "join it: `var text = join(@{path}, \",\")`; as a bare word of its own it becomes \
                 one word for each element"
            ),
            Type::Map(_) => format!("take one of its fields: `@{path}.KEY`, or `join` its parts"),
            _ => format!("use the value itself, `@{path}`, or `join` its parts"),
        };
        self.error(Code::CollectionInText, reference.span, message, help);
    }

    /// `@var.NAME = value`.
    fn assigned_reference(&mut self, text: &ShellText) -> bool {
        let [Piece::Reference(reference, context), Piece::Text(after), ..] = text.pieces.as_slice()
        else {
            return false;
        };
        let named = reference.named().filter(|_| context.is_command());
        let Some((space, name)) = named.filter(|_| after.starts_with(" = ") || after == " =")
        else {
            return false;
        };
        let help = match space {
            "var" => format!("an assignment has no `@`: `{name} = …`"),
            "let" => format!("a binding has no `@`: `let.{name} = @shell(\"…\")`"),
            _ => format!("set it for some steps: `@environ({name}=\"…\") {{ … }}`"),
        };
        let message = format!("`@{space}.{name}` reads a value and cannot be assigned to");
        self.error(Code::Syntax, reference.span, message, help);
        if space == "var" {
            self.reference(reference, Site::Run);
        }
        true
    }

    /// `@env.NAME { … }`.
    fn value_with_block(&mut self, text: &ShellText) {
        if let [Piece::Reference(reference, context), Piece::Text(after), ..] =
            text.pieces.as_slice()
            && context.is_command()
            && after.trim_start().starts_with('{')
            && after.starts_with(' ')
        {
            let message =
                format!("`@{}` is a value and does not accept a block", reference.path.text);
            let help = "put the steps of the block below it";
            self.error(Code::BlockNotAllowed, reference.span, message, help);
        }
    }
}
