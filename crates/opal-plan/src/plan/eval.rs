//! Expressions to cells: constants are computed at once, everything else becomes nodes.

use std::rc::Rc;

use opal_core::decorator::Site;

use super::call::CallShape;
use super::datum::{Datum, Plain};
use super::graph::{Cell, Op};
use super::planner::Planner;
use super::scoped::{Access, Expr, ExprKind, Slot, ValueCall};
use super::targeted::Targeted;
use crate::unit::BinaryOp;

impl Planner<'_> {
    pub(crate) fn eval(&mut self, expr: &Expr) -> Cell {
        match &expr.kind {
            ExprKind::Const(datum) => Cell::Known(datum.clone()),
            ExprKind::Slot(slot, _) => self.read(*slot),
            ExprKind::Args => Cell::Known(self.args.clone()),
            ExprKind::Text(parts) => {
                let parts = parts.iter().map(|part| self.eval(part)).collect();
                self.graph.add(Op::Join, parts, expr.span)
            }
            ExprKind::Array(items) => {
                let items = items.iter().map(|item| self.eval(item)).collect();
                self.graph.add(Op::Array, items, expr.span)
            }
            ExprKind::Map(entries) => {
                let keys = entries.iter().map(|(key, _)| Rc::clone(key)).collect();
                let items = entries.iter().map(|(_, item)| self.eval(item)).collect();
                self.graph.add(Op::Map(keys), items, expr.span)
            }
            ExprKind::Call(call) => {
                let target = self.target_of(call);
                let settings = self.settings_of(call.descriptor);
                let (shape, operands) = CallShape::of(call, target, settings.is_some());
                let operands = operands.into_iter().map(|operand| self.eval(operand));
                let operands = operands.collect::<Vec<_>>().into_iter().chain(settings).collect();
                self.graph.add(Op::Call(Rc::new(shape)), operands, call.span)
            }
            ExprKind::Function(function, args) => {
                let args = args.iter().map(|arg| self.eval(arg)).collect();
                self.graph.add(Op::Function(*function), args, expr.span)
            }
            ExprKind::Access(base, access) => {
                let base = self.eval(base);
                self.access(base, access, expr.span)
            }
            ExprKind::Unary(ops, operand) => {
                let operand = self.eval(operand);
                let apply = |value, op: &_| self.graph.add(Op::Unary(*op), vec![value], expr.span);
                ops.iter().rev().fold(operand, apply)
            }
            ExprKind::Binary(first, rest) => self.binary(first, rest),
        }
    }

    /// The target that a call reads; none where it reads opal's machine.
    fn target_of(&mut self, call: &ValueCall) -> Option<Rc<Targeted>> {
        let target = self.target.clone().filter(|_| call.descriptor.site != Site::Origin);
        self.target_reads += usize::from(target.is_some());
        target
    }

    /// From left to right; the right side of `&&` and `||` only where the left does not decide.
    fn binary(&mut self, first: &Expr, rest: &[(BinaryOp, opal_core::Span, Expr)]) -> Cell {
        let mut left = self.eval(first);
        for (op, span, right) in rest {
            let known = match &left {
                Cell::Known(Datum { plain: Plain::Bool(value), .. }) => Some(*value),
                _ => None,
            };
            let decides = match op {
                BinaryOp::And => known == Some(false),
                BinaryOp::Or => known == Some(true),
                _ => false,
            };
            if !decides {
                let right = self.eval(right);
                left = self.graph.add(Op::Binary(*op), vec![left, right], *span);
            }
        }
        left
    }

    fn access(&mut self, base: Cell, access: &[Access], span: opal_core::Span) -> Cell {
        let mut value = base;
        for one in access {
            // Fields of a run-time value are looked up when it is there.
            if let Cell::Known(Datum { plain: Plain::Handle(handle), .. }) = &value {
                let handle = Rc::clone(handle);
                value = self.handle_access(&handle, one);
                continue;
            }
            value = match one {
                Access::Field(name, at) => {
                    self.graph.add(Op::Field(name.clone()), vec![value], *at)
                }
                Access::Index(index) => {
                    let at = self.eval(index);
                    self.graph.add(Op::Index, vec![value, at], span)
                }
                Access::All(at) => self.graph.add(Op::All, vec![value], *at),
            };
        }
        value
    }

    pub(crate) fn read(&mut self, slot: Slot) -> Cell {
        let cell = match slot {
            Slot::Local(index) => self.frame().get(index as usize).cloned().flatten(),
            Slot::Global(index) => self.globals[index as usize].clone(),
        };
        cell.unwrap_or(Cell::Known(Datum::constant(Plain::Null)))
    }
}
