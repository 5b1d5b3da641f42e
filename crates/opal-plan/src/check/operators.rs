//! Which types go together under which operator.

use opal_core::{Code, Diagnostic, Span, Type, Value};

use super::checker::Checker;
use super::lets::Site;
use super::observer::Observer;
use crate::unit::{BinaryOp, Expr, ExprKind, conversion, result};

impl<O: Observer> Checker<'_, O> {
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
            self.error(Code::OperandTypes, right.span, "division by zero", help);
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
