//! Expressions and references.

use std::rc::Rc;

use opal_core::class::Flags;
use opal_core::decorator::{Capability, Descriptor, Subject};
use opal_core::parameter::Binding;
use opal_core::{Class, Span, Value, withheld};

use super::statements::{constant, literal};
use super::{Scoper, Space};
use crate::check::{Bound, bind, bind_subject, decorator_error, foreign};
use crate::lower;
use crate::plan::datum::{Datum, Plain};
use crate::plan::scoped::{
    Access, ArgName, ArgValue, BoundArg, Expr, ExprKind, FieldName, Piece, ValueCall,
};
use crate::unit::{self, Builtin};

impl Scoper<'_> {
    pub(super) fn expression(&mut self, expr: &unit::Expr) -> Expr {
        let span = expr.span;
        let kind = match &expr.kind {
            unit::ExprKind::Missing => ExprKind::Const(Datum::constant(Plain::Null)),
            unit::ExprKind::Literal(value) => return literal(value, span),
            unit::ExprKind::Regex(text) => ExprKind::Const(Datum::text(text.as_str())),
            unit::ExprKind::Str(pieces) => {
                ExprKind::Text(pieces.iter().map(|piece| self.string_piece(piece, span)).collect())
            }
            unit::ExprKind::Array(items) => {
                ExprKind::Array(items.iter().map(|item| self.expression(item)).collect())
            }
            unit::ExprKind::Map(entries) => {
                let entries = entries.iter();
                let entries = entries
                    .map(|(key, value)| (key.name.text.as_str().into(), self.expression(value)));
                ExprKind::Map(entries.collect())
            }
            unit::ExprKind::Name(name) => return self.variable(Space::Var, name, span),
            unit::ExprKind::Function { name, args } => match Builtin::named(&name.text) {
                Some(builtin) => {
                    let args = args.iter().map(|arg| self.expression(&arg.value)).collect();
                    ExprKind::Function(builtin, args)
                }
                None => {
                    self.lost(name.span, &format!("`{}(…)`", name.text));
                    ExprKind::Const(Datum::constant(Plain::Null))
                }
            },
            unit::ExprKind::Reference(reference) => return self.reference(reference),
            unit::ExprKind::Access { base, access } => {
                let base = self.expression(base);
                return self.accessed(base, access, None, span);
            }
            unit::ExprKind::Unary { ops, operand } => {
                ExprKind::Unary(ops.clone(), Box::new(self.expression(operand)))
            }
            unit::ExprKind::Binary { first, rest } => {
                let first = Box::new(self.expression(first));
                let rest = rest.iter().map(|(op, at, right)| (*op, *at, self.expression(right)));
                ExprKind::Binary(first, rest.collect())
            }
        };
        Expr { kind, span }
    }

    fn string_piece(&mut self, piece: &unit::StrPiece, span: Span) -> Expr {
        match piece {
            unit::StrPiece::Text(text) => constant(Datum::text(text.as_str()), span),
            unit::StrPiece::AtWord(name) => {
                constant(Datum::text(format!("@{}", name.text)), name.span)
            }
            unit::StrPiece::Reference(reference) => self.reference(reference),
        }
    }

    fn variable(&mut self, space: Space, name: &str, span: Span) -> Expr {
        let kind = match self.lookup(space, name) {
            Some(slot) => ExprKind::Slot(slot, name.into()),
            None => {
                self.lost(span, &format!("`{name}`"));
                ExprKind::Const(Datum::constant(Plain::Null))
            }
        };
        Expr { kind, span }
    }

    pub(super) fn reference(&mut self, reference: &unit::Reference) -> Expr {
        let span = reference.span;
        let base = match reference.named() {
            Some(("var", name)) => self.variable(Space::Var, name, span),
            Some(("let", name)) => self.variable(Space::Let, name, span),
            _ => self.value_call(reference),
        };
        self.accessed(base, &reference.access, Some(&reference.path.text), span)
    }

    /// Whether a reference says that it may begin a word with `-`.
    pub(super) fn says_dash(reference: &unit::Reference) -> bool {
        says(reference, "dash")
    }

    fn value_call(&mut self, reference: &unit::Reference) -> Expr {
        let span = reference.span;
        let path = reference.path.text.as_str();
        if path == "args" {
            return Expr { kind: ExprKind::Args, span };
        }
        if path == "raw" {
            // Outside of a command there is nothing to paste into: the text is itself.
            return match reference.args.first() {
                Some(arg) => self.expression(&arg.value),
                None => constant(Datum::constant(Plain::Null), span),
            };
        }
        let Some((descriptor, subject)) = self.descriptor(path) else {
            self.lost(span, &format!("`@{path}`"));
            return constant(Datum::constant(Plain::Null), span);
        };
        withhold(descriptor, subject, reference);
        let subject = subject.map(Rc::from);
        let args = self.bind(descriptor, &reference.args, subject.is_some());
        let directory = self.directory().filter(|_| sees_directory(descriptor));
        let call = ValueCall { descriptor, subject, args, directory, span };
        Expr { kind: ExprKind::Call(Rc::new(call)), span }
    }

    /// Where relative paths of the file that is being scoped begin, where not beside the source.
    pub(super) fn directory(&self) -> Option<Rc<str>> {
        self.source.unit.directory_of(self.file).map(Rc::from)
    }

    /// What the file that is being scoped may name.
    fn registry(&self) -> &opal_core::Registry {
        self.source.registry.of(self.source.unit.package_of(self.file))
    }

    /// The decorator of a path, and the name that the path ends in.
    pub(super) fn descriptor<'p>(
        &self,
        path: &'p str,
    ) -> Option<(&'static Descriptor, Option<&'p str>)> {
        if let Some(descriptor) = self.registry().get(path) {
            return Some((descriptor, None));
        }
        let (shorter, name) = path.rsplit_once('.')?;
        let descriptor = self.registry().get(shorter)?;
        (descriptor.subject != Subject::None).then_some((descriptor, Some(name)))
    }

    /// Arguments bound to the decorator's parameters.
    pub(super) fn bind(
        &mut self,
        descriptor: &'static Descriptor,
        args: &[unit::Argument],
        subject: bool,
    ) -> Vec<BoundArg> {
        let mut binding = Binding::new(descriptor.params);
        bind_subject(descriptor, subject, Span::at(0), &mut binding);
        let mut bound = Vec::new();
        let is_foreign = foreign(descriptor, args, subject).is_some();
        for arg in args {
            let param = match (bind(descriptor, arg, &mut binding), &arg.name) {
                (Ok(Bound::Param(index)), _) => ArgName::Param(&descriptor.params[index]),
                (Ok(Bound::Open), Some(name)) => ArgName::Open(name.text.as_str().into()),
                (Ok(Bound::Open), None) => continue,
                (Err(error), _) => {
                    self.lost.push(decorator_error(descriptor, arg, error));
                    continue;
                }
            };
            let shell = matches!(param, ArgName::Param(param) if param.shell);
            let value = match foreign_text(&arg.value).filter(|_| shell && is_foreign) {
                Some(text) => ArgValue::Shell(vec![Piece::Text(text.into())]),
                None => self.argument(&arg.value, shell),
            };
            bound.push(BoundArg { param, value, span: arg.span });
        }
        bound
    }

    fn argument(&mut self, value: &unit::Expr, shell: bool) -> ArgValue {
        let string = matches!(
            value.kind,
            unit::ExprKind::Str(_) | unit::ExprKind::Literal(Value::String(_))
        );
        if shell && string {
            return ArgValue::Shell(self.command_literal(value));
        }
        if shell
            && let unit::ExprKind::Reference(reference) = &value.kind
            && reference.path.text == "raw"
        {
            return ArgValue::Shell(vec![Piece::Raw(self.reference(reference))]);
        }
        ArgValue::Expr(self.expression(value))
    }

    /// A string literal in a place for shell text: compiled exactly like a step.
    fn command_literal(&mut self, value: &unit::Expr) -> Vec<Piece> {
        let text = self.source.text.and_then(|(parse, text)| {
            let literal = lower::string_literal(parse, text, value.span)?;
            Some(lower::shell_literal(&literal, self.registry()).0)
        });
        match text {
            Some(text) => self.pieces(&text),
            None => match &value.kind {
                unit::ExprKind::Literal(Value::String(text)) => {
                    vec![Piece::Text(text.as_ref().into())]
                }
                _ => vec![Piece::Raw(self.expression(value))],
            },
        }
    }

    /// `of` is the path of the reference, where it is one.
    fn accessed(
        &mut self,
        base: Expr,
        access: &[unit::Access],
        of: Option<&str>,
        span: Span,
    ) -> Expr {
        if access.is_empty() {
            return base;
        }
        let access = access.iter().map(|one| self.access(one, of)).collect();
        Expr { kind: ExprKind::Access(Box::new(base), access), span }
    }

    pub(super) fn access(&mut self, access: &unit::Access, of: Option<&str>) -> Access {
        match access {
            unit::Access::Field(name) => {
                let field = FieldName { name: name.text.as_str().into(), of: of.map(Into::into) };
                Access::Field(field, name.span)
            }
            unit::Access::Index(index) => Access::Index(self.expression(index)),
            unit::Access::All(span) => Access::All(*span),
        }
    }
}

/// Whether what a decorator reads depends on the directory that it is read from.
fn sees_directory(descriptor: &Descriptor) -> bool {
    let needs = |capability| descriptor.capabilities.contains(&capability);
    needs(Capability::FilesRead) || needs(Capability::Processes)
}

/// A string without references, as another program than a shell reads it: word for word.
fn foreign_text(value: &unit::Expr) -> Option<String> {
    match &value.kind {
        unit::ExprKind::Literal(Value::String(text)) => Some(text.to_string()),
        unit::ExprKind::Str(pieces) => pieces
            .iter()
            .map(|piece| match piece {
                unit::StrPiece::Text(text) => Some(text.clone()),
                unit::StrPiece::AtWord(name) => Some(format!("@{}", name.text)),
                unit::StrPiece::Reference(_) => None,
            })
            .collect(),
        _ => None,
    }
}

/// Whether a reference says `name=true`.
fn says(reference: &unit::Reference, name: &str) -> bool {
    reference.args.iter().any(|arg| {
        arg.name.as_ref().is_some_and(|it| it.text == name)
            && matches!(arg.value.kind, unit::ExprKind::Literal(Value::Bool(true)))
    })
}

/// A variable that the source names as a secret is not passed on from now on. When it is read, planning may
/// have opened connections.
fn withhold(descriptor: &Descriptor, subject: Option<&str>, reference: &unit::Reference) {
    let Some(name) = subject else { return };
    let flags = Flags { public: says(reference, "public"), secret: says(reference, "secret") };
    let class = Class::of(descriptor.exposure, flags, subject, None);
    if descriptor.capabilities.contains(&Capability::Environment) && class.is_secret() {
        withheld::withhold(name);
    }
}
