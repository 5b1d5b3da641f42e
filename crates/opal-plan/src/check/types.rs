//! The type of an expression, where it is known.

use std::collections::BTreeMap;

use opal_core::message::counted;
use opal_core::types::TypeRef;
use opal_core::{Code, Diagnostic, Span, Type, suggest};

use super::checker::Checker;
use super::lets::Site;
use super::observer::{Callee, Observer};
use crate::unit::{Access, Argument, Builtin, Expr, ExprKind, Name, StrPiece, UnaryOp};

impl<O: Observer> Checker<'_, O> {
    /// Checks an expression that is at `site`, and says what type it has.
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
                let ty = self.expression(operand, site.computed());
                self.unary(ops, ty, operand)
            }
            ExprKind::Binary { first, rest } => self.binary(first, rest, site),
        }
    }

    fn regex(&mut self, pattern: &str, expr: &Expr) -> Type {
        if let Err(error) = regex::Regex::new(pattern) {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or(&error).trim_start_matches("error: ");
            let message = format!("invalid regular expression: {reason}");
            let help = "to match a bracket or another special character, put a `\\` before it";
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
        // Each element is checked, also after the first that differs.
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
                self.error(Code::Syntax, key.name.span, message, "write the key as plain text");
                continue;
            }
            if let Some(first) = seen.insert(&key.name.text, key.name.span) {
                let message = format!("duplicate key `{}`", key.name.text);
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
        let site = site.computed();
        let types: Vec<Type> = args.iter().map(|arg| self.expression(&arg.value, site)).collect();
        let Some(function) = Builtin::named(&name.text) else {
            self.unknown_function(name);
            return Type::Any;
        };
        self.observer.called(name.span, Callee::Builtin(function));
        let signature = function.signature();
        let is_spread = args.iter().any(|arg| arg.value.is_spread());
        if !is_spread {
            self.count_of_arguments(name, args, function);
        }
        if let Some(arg) = args.iter().find(|arg| arg.value.is_spread() && !signature.variadic) {
            let message = format!("`{}` takes a fixed number of arguments", name.text);
            self.error(Code::TooManyArguments, arg.span, message, function.form());
        } else if !is_spread {
            for (index, (arg, given)) in args.iter().zip(&types).enumerate() {
                self.function_argument(function, index, arg, given);
            }
        }
        match function {
            Builtin::Split | Builtin::Lines => Type::array(Type::String),
            _ => signature.gives.clone(),
        }
    }

    fn count_of_arguments(&mut self, name: &Name, args: &[Argument], function: Builtin) {
        let (wanted, variadic) = (function.signature().params.len(), function.signature().variadic);
        let fits = args.len() == wanted || variadic && args.len() > wanted;
        if fits && args.iter().all(|arg| arg.name.is_none()) {
            return;
        }
        let code = match args.len() < wanted {
            true => Code::MissingArgument,
            false => Code::TooManyArguments,
        };
        let expected = counted(wanted, "argument");
        let least = if variadic { "at least " } else { "" };
        let message = format!("`{}` expects {least}{expected}, got {}", name.text, args.len());
        self.error(code, name.span, message, function.form());
    }

    fn function_argument(&mut self, function: Builtin, index: usize, arg: &Argument, given: &Type) {
        let params = function.signature().params;
        // One too many has been reported.
        let Some(accepted) = params.get(index).or(params.last().filter(|_| index > 0)) else {
            return;
        };
        let is_list = matches!(given, Type::Array(_) | Type::Any);
        let is_container = is_list
            || matches!(given, Type::String | Type::OneOf(_) | Type::Map(_) | Type::Object(_));
        let fits = match (function, index) {
            (Builtin::Join, 0) => is_list,
            (Builtin::Contains, 0) => is_container,
            _ => accepted.is_empty() || accepted.iter().any(|ty| ty.accepts(given)),
        };
        if !fits {
            let message = format!("`{}` does not accept {}", function.name(), given.with_article());
            self.error(Code::WrongType, arg.span, message, function.form());
        }
    }

    fn unknown_function(&mut self, name: &Name) {
        let near = suggest::nearest(&name.text, Builtin::names());
        let task = self.function_named(&name.text).is_some();
        let error = Diagnostic::new(
            Code::UnknownBuiltin,
            name.span,
            format!("unknown function `{}` in an expression", name.text),
        )
        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
        .maybe_help(task.then(|| format!("call your `fun {0}` with `@cmd.{0}()`", name.text)))
        .help(format!("expected one of: {}", Builtin::names().collect::<Vec<_>>().join(", ")));
        self.report(error);
    }
}
