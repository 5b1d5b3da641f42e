//! Types, as far as the text of a program tells.

use opal_core::Type;

use super::expr::{BinaryOp, Expr, ExprKind, UnaryOp};

/// The type of a default, as far as its literals and operators tell.
#[must_use]
pub(crate) fn literal_type(default: &Expr) -> Type {
    match &default.kind {
        ExprKind::Literal(value) => value.type_of(),
        ExprKind::Str(_) => Type::String,
        ExprKind::Array(_) => Type::array(Type::Any),
        ExprKind::Map(_) => Type::named("Map").unwrap_or(Type::Any),
        ExprKind::Unary { ops, .. } if ops.contains(&UnaryOp::Not) => Type::Bool,
        ExprKind::Unary { operand, .. } => literal_type(operand),
        ExprKind::Binary { first, rest } => {
            rest.iter().fold(literal_type(first), |left, (op, _, right)| {
                result(*op, &left, &literal_type(right)).unwrap_or(Type::Any)
            })
        }
        _ => Type::Any,
    }
}

/// The type of `left op right`, or none where there is none.
pub(crate) fn result(op: BinaryOp, left: &Type, right: &Type) -> Option<Type> {
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
            "to join texts, convert the number with `str(…)`; to add numbers, convert the text with `int(…)`".into()
        }
        (left, right) if (text(left) && number(right)) || (number(left) && text(right)) => {
            "nothing is converted automatically: use `int(…)`, `float(…)` or `str(…)`".into()
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
        _ => "nothing is converted automatically: convert both to one type".into(),
    }
}
