//! Which types go together under which operator.

use opal_core::{Code, Diagnostic, Span, Type, Value};

use super::Checker;
use super::lets::Site;
use crate::unit::{BinaryOp, Expr, ExprKind};

impl Checker<'_> {
    /// Operators from left to right.
    pub(super) fn binary(
        &mut self,
        first: &Expr,
        rest: &[(BinaryOp, Span, Expr)],
        site: Site,
    ) -> Type {
        let mut ty = self.expression(first, operand_site(first, site));
        let mut span = first.span;
        for (op, op_span, right) in rest {
            let given = self.expression(right, operand_site(right, site));
            ty = match op {
                BinaryOp::And | BinaryOp::Or => {
                    if span == first.span {
                        self.require_bool(&ty, first);
                    } else if !Type::Bool.accepts(&ty) {
                        let message = format!("{} is not true or false", ty.with_article());
                        self.error(Code::ConditionNotBool, span, message, "compare it first");
                    }
                    self.require_bool(&given, right);
                    Type::Bool
                }
                op => {
                    self.division(*op, right);
                    self.combine(*op, *op_span, (&ty, span), (&given, right.span))
                }
            };
            span = span.to(right.span);
        }
        ty
    }

    fn division(&mut self, op: BinaryOp, right: &Expr) {
        let zero = matches!(&right.kind, ExprKind::Literal(Value::Int(0)));
        if zero && matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
            let help = "divide by something else, or guard it with `if`";
            self.error(Code::OperandTypes, right.span, "a division by zero", help);
        }
    }

    /// The type of `left op right`; says so where the two do not go together.
    pub(super) fn combine(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        left: (&Type, Span),
        right: (&Type, Span),
    ) -> Type {
        if let Some(ty) = result(op, left.0, right.0) {
            return ty;
        }
        let symbol = op.symbol();
        let message = format!(
            "`{symbol}` does not work between {} and {}",
            left.0.with_article(),
            right.0.with_article()
        );
        let mut error = Diagnostic::new(Code::OperandTypes, op_span, message)
            .also(left.1, left.0.with_article())
            .also(right.1, right.0.with_article());
        error = error.help(conversion(op, left.0, right.0));
        self.report(error);
        match op {
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder => Type::Any,
            BinaryOp::Range => Type::array(Type::Int),
            _ => Type::Bool,
        }
    }
}

/// Arrays are concatenated whatever is in them; everything else is computed now.
fn operand_site(operand: &Expr, site: Site) -> Site {
    if matches!(operand.kind, ExprKind::Array(_)) { site } else { site.computed() }
}

/// The type of `left op right`, or none where there is none.
pub(super) fn result(op: BinaryOp, left: &Type, right: &Type) -> Option<Type> {
    use Type::{Any, Bool, Duration, Float, Int, Null, String};
    let left = if let Type::OneOf(_) = left { &String } else { left };
    let right = if let Type::OneOf(_) = right { &String } else { right };
    let numbers = matches!(left, Int | Float) && matches!(right, Int | Float);
    let unknown = *left == Any || *right == Any;
    match op {
        BinaryOp::And | BinaryOp::Or => Some(Bool),
        BinaryOp::Equal | BinaryOp::NotEqual => {
            let same = numbers || left.accepts(right) || right.accepts(left);
            (same || *left == Null || *right == Null).then_some(Bool)
        }
        BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual => {
            let ordered = numbers || (left == right && matches!(left, String | Duration));
            (unknown || ordered).then_some(Bool)
        }
        BinaryOp::Range => {
            let ints = matches!(left, Int | Any) && matches!(right, Int | Any);
            ints.then(|| Type::array(Int))
        }
        _ if unknown => Some(Any),
        BinaryOp::Add if *left == String && *right == String => Some(String),
        BinaryOp::Add if matches!((left, right), (Type::Array(_), Type::Array(_))) => {
            Some(if left == right { left.clone() } else { Type::array(Any) })
        }
        BinaryOp::Add | BinaryOp::Subtract if *left == Duration && *right == Duration => {
            Some(Duration)
        }
        BinaryOp::Multiply if matches!((left, right), (Duration, Int) | (Int, Duration)) => {
            Some(Duration)
        }
        _ if numbers && *left == Int && *right == Int => Some(Int),
        _ if numbers => Some(Float),
        _ => None,
    }
}

/// How to make the two go together.
pub(crate) fn conversion(op: BinaryOp, left: &Type, right: &Type) -> String {
    let text = |ty: &Type| matches!(ty, Type::String | Type::OneOf(_));
    let number = |ty: &Type| matches!(ty, Type::Int | Type::Float);
    match (left, right) {
        (left, right) if text(left) && number(right) && op == BinaryOp::Add => {
            "to join texts, convert the number with `str(…)`; to add, the text with `int(…)`".into()
        }
        (left, right) if (text(left) && number(right)) || (number(left) && text(right)) => {
            "nothing is converted by itself: use `int(…)`, `float(…)` or `str(…)`".into()
        }
        (Type::Array(_), Type::Array(_)) => "arrays can be concatenated with `+`".into(),
        (Type::Array(_), _) if op == BinaryOp::Add => {
            "to append one element, put it in brackets: `list + [element]`".into()
        }
        (_, Type::Array(_)) if op == BinaryOp::Add => {
            "to put one element first, put it in brackets: `[element] + list`".into()
        }
        (left, right) if text(left) && text(right) => {
            "texts can be joined with `+` and compared".into()
        }
        _ => "nothing is converted by itself: bring both to one type".into(),
    }
}
