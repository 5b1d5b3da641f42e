//! Statements and blocks.

use std::collections::BTreeMap;
use std::rc::Rc;

use opal_core::Value;

use super::{Scoper, Space};
use crate::plan::datum::{Datum, Plain};
use crate::plan::operate;
use crate::plan::scoped::{
    Access, Arm, Block, Branch, Expr, ExprKind, Pattern, PatternKind, Slot, Statement,
    StatementKind,
};
use crate::unit::{self, AssignOp, BinaryOp};

impl<'s> Scoper<'s> {
    /// A block with a scope of its own.
    pub(super) fn block(&mut self, block: &'s unit::Block) -> Block {
        let top = std::mem::replace(&mut self.top, false);
        self.scopes.push(BTreeMap::new());
        let block = self.statements(block);
        self.scopes.pop();
        self.top = top;
        block
    }

    pub(super) fn statements(&mut self, block: &'s unit::Block) -> Block {
        let statements = block.statements.iter().filter_map(|statement| {
            let kind = self.statement(&statement.kind);
            if kind.is_none() {
                self.lost(statement.span, "this statement");
            }
            Some(Statement { kind: kind?, span: statement.span })
        });
        Block { statements: statements.collect() }
    }

    fn statement(&mut self, kind: &'s unit::StatementKind) -> Option<StatementKind> {
        Some(match kind {
            unit::StatementKind::Var { name, value } => {
                let value = Rc::new(self.expression(value));
                let slot = self.declare_variable(&name.text, &value);
                StatementKind::Var { slot, value }
            }
            unit::StatementKind::Assign { name, op, value } => {
                let value = match value {
                    Some(value) => self.expression(value),
                    None => constant(Datum::constant(Plain::Int(1)), name.span),
                };
                let slot = self.lookup(Space::Var, &name.text)?;
                StatementKind::Assign { slot, op: operation(*op), value }
            }
            unit::StatementKind::If(branches) => {
                let branches = branches.iter().map(|branch| Branch {
                    condition: branch.condition.as_ref().map(|e| self.expression(e)),
                    body: self.block(&branch.body),
                });
                StatementKind::If(branches.collect())
            }
            unit::StatementKind::When { subject, arms } => {
                let subject = self.expression(subject);
                let arms = arms.iter().map(|arm| Arm {
                    patterns: self.patterns(&arm.patterns),
                    body: self.block(&arm.body),
                });
                StatementKind::When { subject, arms: arms.collect() }
            }
            unit::StatementKind::For { names, over, body } => self.r#for(names, over, body),
            unit::StatementKind::While { condition, body } => {
                let condition = self.expression(condition);
                StatementKind::While { condition, body: self.block(body) }
            }
            unit::StatementKind::Try { body, catch, finally } => StatementKind::Try {
                body: self.block(body),
                catch: catch.as_ref().map(|block| self.block(block)),
                finally: finally.as_ref().map(|block| self.block(block)),
            },
            unit::StatementKind::Block(block) => StatementKind::Block(self.block(block)),
            unit::StatementKind::Let { name, source, access } => {
                let source = self.call(source)?;
                let access: Vec<Access> = access.iter().map(|one| self.access(one, None)).collect();
                let slot = self.declare(Space::Let, &name.text);
                StatementKind::Let { slot, name: name.text.as_str().into(), source, access }
            }
            unit::StatementKind::Require(reference) => {
                StatementKind::Require(self.reference(reference))
            }
            unit::StatementKind::Step(step) => match step.dependency() {
                Some(call) => StatementKind::Needs(self.dependency(call)?),
                None => StatementKind::Step(self.step(step)?),
            },
        })
    }

    fn declare_variable(&mut self, name: &'s str, value: &Rc<Expr>) -> Slot {
        if !self.top {
            return self.declare(Space::Var, name);
        }
        // The declaration is seen by what follows it.
        let index = self.horizon.unwrap_or(0);
        self.horizon = Some(index + 1);
        self.program.globals[index as usize] = Some(Rc::clone(value));
        Slot::Global(index)
    }

    fn r#for(
        &mut self,
        names: &'s [unit::Name],
        over: &'s unit::Expr,
        body: &'s unit::Block,
    ) -> StatementKind {
        let over = self.expression(over);
        self.scopes.push(BTreeMap::new());
        let slots = names.iter().map(|name| self.declare(Space::Var, &name.text)).collect();
        let body = self.block(body);
        self.scopes.pop();
        let name = names.first().map_or("item", |name| name.text.as_str()).into();
        StatementKind::For { slots, name, over, body }
    }

    fn patterns(&mut self, patterns: &[unit::Expr]) -> Vec<Pattern> {
        let mut known = Vec::new();
        for pattern in patterns {
            match self.pattern(pattern) {
                Some(found) => known.push(found),
                None => self.lost(pattern.span, "this pattern"),
            }
        }
        known
    }

    /// Patterns are literals, so they are values already.
    fn pattern(&mut self, pattern: &unit::Expr) -> Option<Pattern> {
        let span = pattern.span;
        if let unit::ExprKind::Regex(text) = &pattern.kind {
            let kind = PatternKind::Regex(regex::Regex::new(text).ok()?);
            return Some(Pattern { kind, shown: format!("r\"{text}\""), span });
        }
        let expr = self.expression(pattern);
        if let ExprKind::Binary(low, rest) = &expr.kind
            && let [(BinaryOp::Range, _, high)] = rest.as_slice()
        {
            // Its ends alone: as an Array it could be too long.
            let end = |expr| match operate::constant(expr)?.plain {
                Plain::Int(end) => Some(end),
                _ => None,
            };
            let (low, high) = (end(low)?, end(high)?);
            let shown = format!("{low}...{high}");
            return Some(Pattern { kind: PatternKind::Range(low, high), shown, span });
        }
        let value = operate::constant(&expr)?;
        let shown = value.symbol();
        Some(Pattern { kind: PatternKind::Value(value), shown, span })
    }
}

fn operation(op: AssignOp) -> Option<BinaryOp> {
    Some(match op {
        AssignOp::Set => return None,
        AssignOp::Add | AssignOp::Increment => BinaryOp::Add,
        AssignOp::Subtract | AssignOp::Decrement => BinaryOp::Subtract,
        AssignOp::Multiply => BinaryOp::Multiply,
        AssignOp::Divide => BinaryOp::Divide,
        AssignOp::Remainder => BinaryOp::Remainder,
    })
}

pub(super) fn constant(datum: Datum, span: opal_core::Span) -> Expr {
    Expr { kind: ExprKind::Const(datum), span }
}

pub(super) fn literal(value: &Value, span: opal_core::Span) -> Expr {
    constant(Datum::from(value), span)
}
