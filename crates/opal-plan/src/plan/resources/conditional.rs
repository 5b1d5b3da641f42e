//! The ids of resources that a condition may leave out of a plan.
//!
//! To depend on a resource in a branch that was not taken is to depend on nothing: the branch says
//! that it is not needed here.

use crate::unit::{Block, Expr, ExprKind, Statement, StatementKind, StrPiece, Work};
use opal_core::Value;

/// Ids of calls in an `if` or a `when`.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    whole: Vec<String>,
    /// Of ids that are put together, what they begin with.
    beginnings: Vec<String>,
}

impl LeftOut {
    pub(super) fn of(blocks: &[&Block]) -> Self {
        let mut found = Self::default();
        blocks.iter().for_each(|block| found.block(block, false));
        found
    }

    pub(super) fn may_be(&self, id: &str) -> bool {
        self.whole.iter().any(|it| it == id) || self.beginnings.iter().any(|it| id.starts_with(it))
    }

    fn block(&mut self, block: &Block, is_conditional: bool) {
        block.statements.iter().for_each(|it| self.statement(it, is_conditional));
    }

    fn statement(&mut self, statement: &Statement, is_conditional: bool) {
        match &statement.kind {
            StatementKind::If(branches) => {
                branches.iter().for_each(|branch| self.block(&branch.body, true));
            }
            StatementKind::When { arms, .. } => {
                arms.iter().for_each(|arm| self.block(&arm.body, true));
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                self.block(body, is_conditional);
            }
            StatementKind::Block(body) => self.block(body, is_conditional),
            StatementKind::Try { body, catch, finally } => {
                for block in [Some(body), catch.as_ref(), finally.as_ref()].into_iter().flatten() {
                    self.block(block, is_conditional);
                }
            }
            StatementKind::Step(step) => {
                let rest = step.rest.iter().map(|(_, operand)| operand);
                for operand in std::iter::once(&step.first).chain(rest) {
                    self.work(&operand.work, is_conditional);
                }
            }
            _ => {}
        }
    }

    fn work(&mut self, work: &Work, is_conditional: bool) {
        let Work::Call(call) = work else { return };
        let is_id = |name: &str| name == "id";
        let id = call.args.iter().find(|arg| arg.name.as_ref().is_some_and(|it| is_id(&it.text)));
        if let (true, Some(id)) = (is_conditional, id) {
            self.id(&id.value);
        }
        if let Some(block) = &call.block {
            self.block(block, is_conditional);
        }
    }

    fn id(&mut self, id: &Expr) {
        match &id.kind {
            ExprKind::Literal(Value::String(text)) => self.whole.push(text.to_string()),
            ExprKind::Str(pieces) => match pieces.first() {
                Some(StrPiece::Text(text)) if !text.is_empty() => {
                    self.beginnings.push(text.clone())
                }
                _ => {}
            },
            _ => {}
        }
    }
}
