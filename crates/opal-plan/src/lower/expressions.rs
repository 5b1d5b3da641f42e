//! Expressions, references, arguments.

use opal_core::{Duration, Span, Value};
use opal_syntax::SyntaxKind::{self, *};
use opal_syntax::cursor::Item;

use super::literals::{VALUE, decode_escape, dedent, lines};
use super::{Child, Lower};
use crate::unit::{
    Access, Argument, BinaryOp, Expr, ExprKind, Key, Name, Rare, Reference, StrPiece, UnaryOp,
};

/// Whether a node of this kind is an expression.
pub(super) fn is_expression(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        Ref | Literal
            | Str
            | Array
            | Map
            | Paren
            | Unary
            | Binary
            | SyntaxKind::Name
            | FnCall
            | SyntaxKind::Access
    )
}

impl Lower<'_> {
    pub(super) fn missing(&self) -> Expr {
        Expr { kind: ExprKind::Missing, span: self.since(self.end) }
    }

    /// The expression whose node of `kind` has just begun.
    pub(super) fn expression(&mut self, kind: SyntaxKind) -> Expr {
        let start = self.start();
        let kind = match kind {
            Literal => self.literal(),
            Str => self.string(),
            Array => ExprKind::Array(self.elements()),
            Map => self.map(),
            Paren => return self.paren(),
            Unary => self.unary(),
            Binary => self.binary(),
            SyntaxKind::Name => self.bare_name(),
            FnCall => self.function_call(),
            Ref => ExprKind::Reference(Box::new(self.reference())),
            SyntaxKind::Access => self.access_expression(),
            _ => {
                self.finish();
                ExprKind::Missing
            }
        };
        Expr { kind, span: self.since(start) }
    }

    fn literal(&mut self) -> ExprKind {
        let mut value = ExprKind::Missing;
        while let Some(child) = self.child() {
            if let Child::Token { kind, span, .. } = child {
                value = literal_value(kind, self.slice(span));
            }
        }
        value
    }

    fn paren(&mut self) -> Expr {
        let mut inner = None;
        while let Some(child) = self.child() {
            if let Child::Node { kind, .. } = child {
                inner = Some(self.expression(kind));
            }
        }
        inner.unwrap_or_else(|| self.missing())
    }

    fn elements(&mut self) -> Vec<Expr> {
        let mut elements = Vec::new();
        while let Some(child) = self.child() {
            if let Child::Node { kind, .. } = child {
                elements.push(self.expression(kind));
            }
        }
        elements
    }

    fn map(&mut self) -> ExprKind {
        let mut entries = Vec::new();
        while let Some(child) = self.child() {
            match child {
                Child::Node { kind: MapEntry, .. } => entries.extend(self.entry()),
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        ExprKind::Map(entries)
    }

    fn entry(&mut self) -> Option<(Key, Expr)> {
        let (mut key, mut value) = (None, None);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => key = Some(self.name(span)),
                Child::Token { .. } => {}
                Child::Node { kind, .. } => {
                    let expr = self.expression(kind);
                    if key.is_none() {
                        let text = match expr.kind {
                            ExprKind::Literal(Value::String(text)) => text.into_owned(),
                            _ => String::new(),
                        };
                        key = Some(Name { text, span: expr.span });
                    } else {
                        value = Some(expr);
                    }
                }
            }
        }
        Some((Key { name: key? }, value.unwrap_or_else(|| self.missing())))
    }

    /// Nested nodes of one kind that begin at the same place are read in a loop: a thousand `!`.
    fn unary(&mut self) -> ExprKind {
        let mut ops = Vec::new();
        let mut open = 1usize;
        let mut operand = None;
        while open > 0 {
            match self.next() {
                Some(Item::Token { kind, .. }) => {
                    ops.push(if kind == Bang { UnaryOp::Not } else { UnaryOp::Negate });
                }
                Some(Item::Start { kind: Unary, .. }) => open += 1,
                Some(Item::Start { kind, .. }) => operand = Some(self.expression(kind)),
                Some(Item::Finish) => open -= 1,
                None => break,
            }
        }
        let operand = operand.unwrap_or_else(|| self.missing());
        // The smallest Int is written with its sign; there is no such Int without it.
        if let (ExprKind::Literal(Value::Int(i64::MIN)), [UnaryOp::Negate]) =
            (&operand.kind, ops.as_slice())
        {
            return operand.kind;
        }
        ExprKind::Unary { ops, operand: Box::new(operand) }
    }

    /// Likewise for the left spine of a long sum.
    fn binary(&mut self) -> ExprKind {
        let mut open = 1usize;
        let mut first = None;
        while first.is_none() {
            match self.next() {
                Some(Item::Start { kind: Binary, .. }) => open += 1,
                Some(Item::Start { kind, .. }) => first = Some(self.expression(kind)),
                Some(_) => {}
                None => break,
            }
        }
        let mut rest = Vec::new();
        let mut operator = None;
        while open > 0 {
            match self.next() {
                Some(Item::Token { kind, span, .. }) => operator = Some((kind, span)),
                Some(Item::Start { kind, .. }) => {
                    let right = self.expression(kind);
                    if let Some((kind, span)) = operator.take() {
                        rest.push((binary_op(kind), self.place(span), right));
                    }
                }
                Some(Item::Finish) => open -= 1,
                None => break,
            }
        }
        let first = first.unwrap_or_else(|| self.missing());
        ExprKind::Binary { first: Box::new(first), rest }
    }

    fn bare_name(&mut self) -> ExprKind {
        let mut name = ExprKind::Missing;
        while let Some(child) = self.child() {
            if let Child::Token { span, .. } = child {
                name = ExprKind::Name(self.slice(span).to_owned());
            }
        }
        name
    }

    fn function_call(&mut self) -> ExprKind {
        let (mut name, mut args) = (None, Vec::new());
        while let Some(child) = self.child() {
            match child {
                Child::Token { span, .. } => name = Some(self.name(span)),
                Child::Node { kind: ArgList, .. } => args = self.arguments(),
                Child::Node { .. } => self.finish(),
            }
        }
        name.map_or(ExprKind::Missing, |name| ExprKind::Function { name, args })
    }

    fn access_expression(&mut self) -> ExprKind {
        let (mut base, mut access) = (None, Vec::new());
        while let Some(child) = self.child() {
            if let Child::Node { kind, .. } = child {
                match kind {
                    Field | Index => access.extend(self.access(kind)),
                    kind => base = Some(self.expression(kind)),
                }
            }
        }
        let base = Box::new(base.unwrap_or_else(|| self.missing()));
        ExprKind::Access { base, access }
    }

    /// The `.name`, `[…]` or `.*` whose node has just begun.
    pub(super) fn access(&mut self, kind: SyntaxKind) -> Option<Access> {
        let mut access = None;
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident | Int, span, .. } if kind == Field => {
                    access = Some(Access::Field(self.name(span)));
                }
                Child::Token { kind: DotStar, span, .. } => {
                    access = Some(Access::All(self.place(span)));
                }
                Child::Token { .. } => {}
                Child::Node { kind, .. } => access = Some(Access::Index(self.expression(kind))),
            }
        }
        access
    }

    /// The reference whose node has just begun.
    pub(super) fn reference(&mut self) -> Reference {
        let start = self.start();
        let mut reference = Reference {
            path: Name { text: String::new(), span: Span::at(start) },
            args: Rare::default(),
            called: false,
            access: Rare::default(),
            span: Span::at(start),
        };
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: RefPath, span, .. } => {
                    reference.path = self.name(Span::new(span.start + 1, span.end));
                }
                Child::Token { .. } => {}
                // After a field the brackets only end the path.
                Child::Node { kind: ArgList, .. } if !reference.access.is_empty() => {
                    drop(self.arguments());
                }
                Child::Node { kind: ArgList, .. } => {
                    reference.args = self.arguments().into();
                    reference.called = true;
                }
                Child::Node { kind, .. } => reference.access.extend(self.access(kind)),
            }
        }
        reference.span = self.since(start);
        reference
    }

    /// The arguments whose list has just begun.
    pub(super) fn arguments(&mut self) -> Vec<Argument> {
        let mut args = Vec::new();
        while let Some(child) = self.child() {
            match child {
                Child::Node { kind: Arg, .. } => args.push(self.argument()),
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        args
    }

    fn argument(&mut self) -> Argument {
        let start = self.start();
        let (mut name, mut value) = (None, None);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Token { .. } => {}
                Child::Node { kind, .. } => value = Some(self.expression(kind)),
            }
        }
        let value = value.unwrap_or_else(|| self.missing());
        Argument { name, value, span: self.since(start) }
    }

    fn string(&mut self) -> ExprKind {
        let mut triple = false;
        let mut texts: Vec<(String, u32)> = Vec::new();
        let mut escapes: Vec<(usize, String)> = Vec::new();
        let mut others: Vec<(usize, StrPiece)> = Vec::new();
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind, span, .. } => {
                    let text = self.slice(span);
                    match kind {
                        StringOpen => triple = text.len() == 3,
                        StringText => lines(text, span.start, &mut texts),
                        Escape => {
                            let decoded = decode_escape(text);
                            let decoded =
                                decoded.strip_prefix("\\@").map_or(decoded.clone(), |_| "@".into());
                            texts.push((VALUE.to_owned(), span.start));
                            escapes.push((texts.len() - 1, decoded));
                        }
                        AtWord => {
                            let name = self.name(Span::new(span.start + 1, span.end));
                            texts.push((VALUE.to_owned(), span.start));
                            others.push((texts.len() - 1, StrPiece::AtWord(name)));
                        }
                        _ => {}
                    }
                }
                Child::Node { .. } => {
                    let reference = self.reference();
                    texts.push((VALUE.to_owned(), reference.span.start));
                    others.push((texts.len() - 1, StrPiece::Reference(reference)));
                }
            }
        }
        if triple {
            dedent(&mut texts);
        }
        escapes.into_iter().for_each(|(at, decoded)| texts[at].0 = decoded);
        join_pieces(texts, others)
    }
}

fn join_pieces(texts: Vec<(String, u32)>, others: Vec<(usize, StrPiece)>) -> ExprKind {
    if others.is_empty() {
        let text: String = texts.into_iter().map(|(text, _)| text).collect();
        return ExprKind::Literal(Value::String(text.into()));
    }
    let mut others = others.into_iter().peekable();
    let mut pieces = Vec::new();
    for (index, (text, _)) in texts.into_iter().enumerate() {
        match others.next_if(|(at, _)| *at == index) {
            Some((_, piece)) => pieces.push(piece),
            None => match pieces.last_mut() {
                Some(StrPiece::Text(last)) => last.push_str(&text),
                _ => pieces.push(StrPiece::Text(text)),
            },
        }
    }
    ExprKind::Str(pieces)
}

/// The digits of the smallest Int; the grammar allows them only after one `-`.
const SMALLEST: &str = "9223372036854775808";

fn literal_value(kind: SyntaxKind, text: &str) -> ExprKind {
    let value = match kind {
        Int if text == SMALLEST => Some(Value::Int(i64::MIN)),
        Int => text.parse().ok().map(Value::Int),
        Float => text.parse().ok().map(Value::Float),
        SyntaxKind::Duration => Duration::parse(text).ok().map(Value::Duration),
        RawString => Some(Value::String(text.trim_matches('\'').to_owned().into())),
        Regex => {
            let inner = text.strip_prefix("r\"").and_then(|text| text.strip_suffix('"'));
            return inner.map_or(ExprKind::Missing, |inner| ExprKind::Regex(inner.to_owned()));
        }
        Ident if text == "null" => Some(Value::Null),
        Ident => Some(Value::Bool(text == "true")),
        _ => None,
    };
    value.map_or(ExprKind::Missing, ExprKind::Literal)
}

fn binary_op(kind: SyntaxKind) -> BinaryOp {
    match kind {
        OrOr => BinaryOp::Or,
        AndAnd => BinaryOp::And,
        EqEq => BinaryOp::Equal,
        Ne => BinaryOp::NotEqual,
        Lt => BinaryOp::Less,
        Le => BinaryOp::LessOrEqual,
        Gt => BinaryOp::Greater,
        Ge => BinaryOp::GreaterOrEqual,
        Plus => BinaryOp::Add,
        Minus => BinaryOp::Subtract,
        Star => BinaryOp::Multiply,
        Slash => BinaryOp::Divide,
        Percent => BinaryOp::Remainder,
        _ => BinaryOp::Range,
    }
}
