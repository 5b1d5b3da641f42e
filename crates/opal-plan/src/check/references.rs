//! References in expressions: what they mean, and what type that has.

use opal_core::decorator::{Descriptor, Subject};
use opal_core::parameter::expected;
use opal_core::types::TypeRef;
use opal_core::{Code, Diagnostic, Span, Type, Value, suggest};

use super::checker::Checker;
use super::lets::Site;
use super::observer::{Callee, Observer};
use crate::unit::{Access, Argument, CallKind, ExprKind, Name, Reference, no_field};

impl<O: Observer> Checker<'_, O> {
    /// Checks a reference where a value is expected, and returns its type.
    pub(super) fn reference(&mut self, reference: &Reference, site: Site) -> Type {
        let path_span =
            Span::new(reference.path.span.start.saturating_sub(1), reference.path.span.end);
        if let Some((space, _)) = reference.named()
            && let Some(descriptor) = self.registry().get(space)
        {
            self.observer.called(path_span, Callee::Decorator(descriptor));
        }
        let base = match reference.named() {
            Some(("var", name)) => {
                let ty = self.read_variable(name, path_span);
                self.note_parameter_use(name, path_span, site);
                self.space_arguments("var", reference, site);
                ty
            }
            Some(("let", name)) => {
                let ty = self.read_let(name, path_span, site);
                self.space_arguments("let", reference, site);
                ty
            }
            Some((space, _)) => {
                self.space_arguments(space, reference, site);
                Type::String
            }
            None => match self.value_decorator(reference, path_span, site) {
                Some(ty) => return ty,
                None => Type::Any,
            },
        };
        match self.accesses(base, &reference.access, reference, site) {
            // What a `let` captured has fields; as a whole it is its text.
            Type::Object(_) => Type::String,
            ty => ty,
        }
    }

    /// The arguments of `@var.X(…)` and its like.
    fn space_arguments(&mut self, space: &str, reference: &Reference, site: Site) {
        // None of them is needed.
        if reference.args.is_empty() {
            return;
        }
        let site = if site == Site::Run { Site::ValueArgument } else { site };
        match self.registry().get(space) {
            Some(descriptor) => {
                self.arguments(descriptor, &reference.args, reference.span, true, site);
            }
            None => self.argument_values(&reference.args, site),
        }
    }

    /// A registered path; none where the accesses are still to be followed from Any.
    fn value_decorator(&mut self, reference: &Reference, span: Span, site: Site) -> Option<Type> {
        if let Some((kind, function)) = CallKind::of(&reference.path.text) {
            let space = kind.decorator();
            let message = format!("`@{space}.{function}` runs a function and has no value");
            let help = match (site, kind) {
                (Site::Run, CallKind::Here) => {
                    "put it on its own line, or make it an operand of its own; for plain text, \
                     write `\\@cmd`"
                }
                (Site::Run, CallKind::First) => {
                    "put it on its own line, before the steps; for plain text, write `\\@needs`"
                }
                _ => "for the output of a command, use `@shell.output(\"…\")`",
            };
            self.error(Code::NotAValue, span, message, help);
            self.argument_values(&reference.args, Site::Run);
            return Some(Type::Any);
        }
        if matches!(reference.path.text.as_str(), "var" | "env" | "let") {
            self.nameless(&reference.path.text, span, &reference.args);
            return Some(Type::Any);
        }
        let Some((descriptor, named)) = self.descriptor(&reference.path.text) else {
            self.unknown_path(&reference.path, span, true);
            self.argument_values(&reference.args, Site::ValueArgument);
            return Some(Type::Any);
        };
        self.observer.called(span, Callee::Decorator(descriptor));
        if !descriptor.is_value() {
            let message = format!("`@{}` has no value", descriptor.path);
            let help = self.no_value_help(descriptor);
            self.error(Code::NotAValue, span, message, help);
            self.argument_values(&reference.args, Site::Run);
            return Some(Type::Any);
        }
        if descriptor.path == "args" && self.function.is_some() {
            self.error(
                Code::ScriptArgumentsInFunction,
                span,
                "`@args` is empty when the function runs as a task",
                "declare a parameter for the arguments: `fun NAME(rest...)`",
            );
        }
        let inner = if descriptor.path == "raw" { site } else { Site::ValueArgument };
        self.arguments(descriptor, &reference.args, reference.span, named, inner);
        let ty = descriptor.returns.as_ref().map_or(Type::Any, |returns| returns.ty.clone());
        Some(self.accesses(ty, &reference.access, reference, site))
    }

    /// What a path is registered as, and whether a name of its own ends it: `secret.env.TOKEN`.
    pub(super) fn descriptor(&self, path: &str) -> Option<(&'static Descriptor, bool)> {
        if let Some(descriptor) = self.registry().get(path) {
            return Some((descriptor, false));
        }
        let (shorter, _) = path.rsplit_once('.')?;
        let descriptor = self.registry().get(shorter)?;
        (descriptor.subject != Subject::None).then_some((descriptor, true))
    }

    /// `@env` without the name that belongs to it.
    pub(super) fn nameless(&mut self, space: &str, span: Span, args: &[Argument]) {
        let name = args.first().and_then(|arg| match &arg.value.kind {
            ExprKind::Literal(Value::String(name)) => Some(name.to_string()),
            _ => None,
        });
        let name = name.unwrap_or_else(|| "NAME".into());
        let help = format!("the name belongs to the path: `@{space}.{name}`");
        self.error(Code::UnknownDecorator, span, format!("`@{space}` needs a name"), help);
    }

    fn no_value_help(&self, descriptor: &Descriptor) -> String {
        match &descriptor.returns {
            Some(_) => format!(
                "it runs later: capture its result with `let.NAME = @{}(…)` and read `@let.NAME`; \
                 for the plan itself use `@shell.output(\"…\")`",
                descriptor.path
            ),
            None => format!("for plain text, write `\\@{}`", descriptor.path),
        }
    }

    /// Says that nothing provides a path. `is_reference` is false for what may stay text.
    pub(super) fn unknown_path(&mut self, path: &Name, span: Span, is_reference: bool) {
        let given = path.text.as_str();
        let first = given.split('.').next().unwrap_or(given);
        let spaces = ["var", "env", "let", "cmd", "needs"];
        let space = spaces.into_iter().find(|space| {
            given.contains('.') && first != *space && suggest::distance(first, space) == 1
        });
        let typo = match space {
            Some(space) => Some(format!("{space}{}", &given[first.len()..])),
            None => self.registry().typo(given).map(str::to_owned),
        };
        if typo.is_none() && !is_reference {
            return self.literal_at(given, span);
        }
        let message = format!("unknown decorator `@{given}`");
        let mut error = Diagnostic::new(Code::UnknownDecorator, span, message);
        let family = self.registry().names().filter(|path| {
            given.contains('.') && path.split('.').next() == Some(first) && path.contains('.')
        });
        let family: Vec<String> = family.map(|path| format!("@{path}")).collect();
        let near = typo.clone().or_else(|| {
            self.may_suggest(64)
                .then(|| self.registry().nearest(given).map(str::to_owned))
                .flatten()
        });
        if let Some(near) = near {
            error = error.help(format!("did you mean `@{near}`?"));
        } else if !family.is_empty() {
            error = error.help(expected(family.iter().map(String::as_str)));
        }
        if let Some(near) = typo {
            error = error.fix(format!("write `@{near}`"), span, format!("@{near}"));
        }
        if let Some(directory) = self.unit.project_of(self.file).filter(|_| given.contains('.')) {
            error = error.help(format!(
                "packages of the project `{directory}` are not used here: add the package to opal.mod of \
                 this project, or run `opal {directory}:TASK`"
            ));
        }
        self.report(error.help(format!("for plain text, write `\\@{given}`")));
    }

    fn literal_at(&mut self, given: &str, span: Span) {
        self.error(
            Code::LiteralAt,
            span,
            format!("`@{given}` stays plain text"),
            format!("to make that explicit, write `\\@{given}`"),
        );
    }

    /// Follows fields and indices from a value of type `ty`.
    pub(super) fn accesses(
        &mut self,
        mut ty: Type,
        access: &[Access],
        reference: &Reference,
        site: Site,
    ) -> Type {
        let start = reference.span.start;
        let end = access.first().map_or(reference.span.end, |first| first.start());
        self.observer.typed(Span::new(start, end.max(start)), &ty);
        for step in access {
            ty = match step {
                Access::All(_) => ty,
                Access::Field(name) => self.field(ty, name, Some(reference)),
                Access::Index(index) => {
                    let given = self.expression(index, site);
                    self.index(ty, &given, index)
                }
            };
            if let Access::Field(name) = step {
                self.observer.typed(Span::new(start, name.span.end.max(start)), &ty);
            }
        }
        ty
    }

    pub(super) fn field(&mut self, ty: Type, name: &Name, reference: Option<&Reference>) -> Type {
        let number = name.text.bytes().all(|byte| byte.is_ascii_digit());
        match &ty {
            Type::Any | Type::Null => Type::Any,
            Type::String | Type::OneOf(_) | Type::Array(_) | Type::Map(_) | Type::Object(_)
                if name.text == "length" =>
            {
                Type::Int
            }
            Type::Array(element) if number => TypeRef::get(element).clone(),
            Type::Map(element) => TypeRef::get(element).clone(),
            Type::Object(fields) => match fields.iter().find(|field| field.name == name.text) {
                Some(field) => field.ty.clone(),
                None => {
                    let names = fields.iter().map(|field| field.name);
                    let near = suggest::nearest(&name.text, names.clone());
                    let error = Diagnostic::new(
                        Code::UnknownField,
                        name.span,
                        format!("unknown field `{}`", name.text),
                    )
                    .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
                    .help(expected(names));
                    self.report(error);
                    Type::Any
                }
            },
            _ => {
                self.no_fields(&ty, name, reference);
                Type::Any
            }
        }
    }

    fn no_fields(&mut self, ty: &Type, name: &Name, reference: Option<&Reference>) {
        let field = &name.text;
        let message = format!("{} has no field `{field}`", ty.with_article());
        let error = Diagnostic::new(Code::UnknownField, name.span, message);
        let path = reference.map(|reference| reference.path.text.as_str());
        self.report(error.help(no_field(field, path)));
    }

    pub(super) fn index(&mut self, ty: Type, given: &Type, index: &crate::unit::Expr) -> Type {
        let (wanted, element) = match &ty {
            Type::Array(element) => (Type::Int, element.get().clone()),
            Type::Map(element) => (Type::String, element.get().clone()),
            Type::Object(_) => {
                if let ExprKind::Literal(Value::String(key)) = &index.kind {
                    let name = Name { text: key.clone().into_owned(), span: index.span };
                    return self.field(ty, &name, None);
                }
                (Type::String, Type::Any)
            }
            Type::Any => return Type::Any,
            other => {
                let message = format!("{} has no elements to index", other.with_article());
                self.error(Code::UnknownField, index.span, message, "index an Array or a Map");
                return Type::Any;
            }
        };
        if !wanted.accepts(given) {
            let message = format!(
                "this index is {}, but {} takes {}",
                given.with_article(),
                ty.with_article(),
                wanted.with_article()
            );
            let help =
                if wanted == Type::Int { "count from 0: `[0]`" } else { "name a key: `[\"k\"]`" };
            self.error(Code::WrongType, index.span, message, help);
        }
        element
    }
}
