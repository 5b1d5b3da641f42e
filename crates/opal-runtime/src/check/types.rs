//! The type of an expression, where it is known.

use std::collections::BTreeMap;

use opal_core::types::TypeRef;
use opal_core::{Code, Diagnostic, Span, Type, suggest};

use super::lets::Site;
use super::{Checker, listed};
use crate::unit::{Access, Argument, Expr, ExprKind, Name, StrPiece, UnaryOp};

/// The functions of expressions: name, types taken, type given.
const FUNCTIONS: [(&str, &[&[Type]], Type); 7] = [
    ("int", &[&[Type::String, Type::Float, Type::Int]], Type::Int),
    ("float", &[&[Type::String, Type::Int, Type::Float]], Type::Float),
    ("str", &[&[Type::String, Type::Int, Type::Float, Type::Bool, Type::Duration]], Type::String),
    ("split", &[&[Type::String], &[Type::String]], Type::Any),
    ("join", &[&[], &[Type::String]], Type::String),
    ("lines", &[&[Type::String]], Type::Any),
    ("trim", &[&[Type::String]], Type::String),
];

impl Checker<'_> {
    /// Checks an expression that stands at `site`, and says what type it has.
    pub(super) fn expression(&mut self, expr: &Expr, site: Site) -> Type {
        match &expr.kind {
            ExprKind::Missing => Type::Any,
            ExprKind::Literal(value) => value.type_of(),
            ExprKind::Regex(pattern) => self.regex(pattern, expr),
            ExprKind::Str(pieces) => self.string(pieces, site),
            ExprKind::Array(elements) => self.array(elements, site),
            ExprKind::Map(entries) => self.map(entries, site),
            ExprKind::Name(name) => {
                self.note_parameter_use(name, expr.span, site);
                self.read_variable(name, expr.span)
            }
            ExprKind::Function { name, args } => self.function_call(name, args, site),
            ExprKind::Reference(reference) => self.reference(reference, site),
            ExprKind::Access { base, access } => {
                let mut ty = self.expression(base, site);
                for step in access {
                    ty = match step {
                        Access::All(_) => ty,
                        Access::Field(name) => self.field(ty, name, None),
                        Access::Index(index) => {
                            let given = self.expression(index, site);
                            self.index(ty, &given, index)
                        }
                    };
                }
                ty
            }
            ExprKind::Unary { ops, operand } => {
                let ty = self.expression(operand, site);
                self.unary(ops, ty, operand)
            }
            ExprKind::Binary { first, rest } => self.binary(first, rest, site),
        }
    }

    fn regex(&mut self, pattern: &str, expr: &Expr) -> Type {
        if let Err(error) = regex::Regex::new(pattern) {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or(&error).trim_start_matches("error: ");
            let message = format!("this regex cannot be read: {reason}");
            let help = "a bracket or another special character is matched with a `\\` before it";
            self.error(Code::BadRegex, expr.span, message, help);
        }
        Type::Regex
    }

    fn string(&mut self, pieces: &[StrPiece], site: Site) -> Type {
        for piece in pieces {
            match piece {
                StrPiece::Text(_) => {}
                StrPiece::AtWord(path) => self.at_word(path),
                StrPiece::Reference(reference) => {
                    let ty = self.reference(reference, site);
                    self.not_a_collection(&ty, reference, "inside a string");
                }
            }
        }
        Type::String
    }

    fn array(&mut self, elements: &[Expr], site: Site) -> Type {
        // Each element is checked, also behind the first that differs.
        let types: Vec<Type> = elements.iter().map(|e| self.expression(e, site)).collect();
        match types.split_first() {
            Some((first, rest)) if rest.iter().all(|ty| ty == first) => Type::array(first.clone()),
            _ => Type::array(Type::Any),
        }
    }

    fn map(&mut self, entries: &[(crate::unit::Key, Expr)], site: Site) -> Type {
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        let mut types = Vec::new();
        for (key, value) in entries {
            types.push(self.expression(value, site));
            if key.name.text.is_empty() && self.text[key.name.span.range()].contains('@') {
                let message = "a key is plain text, without references";
                self.error(Code::Syntax, key.name.span, message, "write the key as it is");
                continue;
            }
            if let Some(first) = seen.insert(&key.name.text, key.name.span) {
                let message = format!("the key `{}` stands here twice", key.name.text);
                let error = Diagnostic::new(Code::RepeatedArgument, key.name.span, message)
                    .also(first, "first here")
                    .help("remove one of them");
                self.report(error);
            }
        }
        match types.split_first() {
            Some((first, rest)) if rest.iter().all(|ty| ty == first) => {
                Type::Map(TypeRef::Shared(std::sync::Arc::new(first.clone())))
            }
            _ => Type::Map(TypeRef::Static(&Type::Any)),
        }
    }

    fn unary(&mut self, ops: &[UnaryOp], ty: Type, operand: &Expr) -> Type {
        // The innermost sign comes last.
        let mut ty = ty;
        for op in ops.iter().rev() {
            ty = self.sign(*op, ty, operand);
        }
        ty
    }

    fn sign(&mut self, op: UnaryOp, ty: Type, operand: &Expr) -> Type {
        match op {
            UnaryOp::Not => {
                self.require_bool(&ty, operand);
                Type::Bool
            }
            UnaryOp::Negate => {
                let number = matches!(ty, Type::Int | Type::Float | Type::Duration | Type::Any);
                if !number {
                    let message = format!("{} has no negative", ty.with_article());
                    self.error(
                        Code::OperandTypes,
                        operand.span,
                        message,
                        "convert it with `int(…)`",
                    );
                    return Type::Any;
                }
                ty
            }
        }
    }

    /// A condition, or an operand of `!`, `&&` and `||`.
    pub(super) fn require_bool(&mut self, ty: &Type, expr: &Expr) {
        if Type::Bool.accepts(ty) {
            return;
        }
        let given = &self.text[expr.span.range()];
        let given = if given.len() > 40 { "value" } else { given };
        let help = match ty {
            Type::String | Type::OneOf(_) => {
                format!("compare it: `{given} == \"true\"` or `{given} != \"\"`")
            }
            Type::Int | Type::Float => format!("compare it: `{given} != 0`"),
            Type::Array(_) | Type::Map(_) => format!("compare its size: `{given}.length > 0`"),
            Type::Null => "compare with `== null`".to_owned(),
            _ => "compare it with `==` or `!=`".to_owned(),
        };
        self.error(
            Code::ConditionNotBool,
            expr.span,
            format!("{} is not true or false", ty.with_article()),
            help,
        );
    }

    fn function_call(&mut self, name: &Name, args: &[Argument], site: Site) -> Type {
        let types: Vec<Type> = args.iter().map(|arg| self.expression(&arg.value, site)).collect();
        let Some((_, wanted, gives)) = FUNCTIONS.iter().find(|(known, ..)| *known == name.text)
        else {
            self.unknown_function(name);
            return Type::Any;
        };
        if args.len() != wanted.len() || args.iter().any(|arg| arg.name.is_some()) {
            let (code, count) = (
                if args.len() < wanted.len() {
                    Code::MissingArgument
                } else {
                    Code::TooManyArguments
                },
                wanted.len(),
            );
            let plural = if count == 1 { "" } else { "s" };
            let message =
                format!("`{}` takes {count} argument{plural}, given {}", name.text, args.len());
            self.error(code, name.span, message, function_form(&name.text));
            return gives.clone();
        }
        for ((arg, given), accepted) in args.iter().zip(&types).zip(wanted.iter()) {
            if !accepted.is_empty() && !accepted.iter().any(|ty| ty.accepts(given)) {
                let message = format!("`{}` does not take {}", name.text, given.with_article());
                self.error(Code::WrongType, arg.span, message, function_form(&name.text));
            }
        }
        let list = !matches!(types.first(), Some(Type::Array(_) | Type::Any) | None);
        if name.text == "join" && list {
            let message = format!("`join` does not take {}", types[0].with_article());
            self.error(Code::WrongType, args[0].span, message, function_form("join"));
        }
        match name.text.as_str() {
            "split" | "lines" => Type::array(Type::String),
            _ => gives.clone(),
        }
    }

    fn unknown_function(&mut self, name: &Name) {
        let known = FUNCTIONS.iter().map(|(known, ..)| *known);
        let near = suggest::nearest(&name.text, known.clone());
        let task = self.functions.find(&name.text).is_some();
        let error = Diagnostic::new(
            Code::UnknownBuiltin,
            name.span,
            format!("there is no function `{}` for expressions", name.text),
        )
        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
        .maybe_help(task.then(|| format!("your `fun {0}` is called with `@cmd.{0}()`", name.text)))
        .help(format!("known are {}", listed(known)));
        self.report(error);
    }
}

pub(crate) fn function_form(name: &str) -> String {
    match name {
        "split" => "write `split(text, \",\")`".to_owned(),
        "join" => "write `join(list, \",\")`".to_owned(),
        _ => format!("write `{name}(value)`"),
    }
}
