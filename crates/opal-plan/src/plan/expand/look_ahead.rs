//! Looking ahead: what will be needed anyway can be asked for now, in parallel with what decides.
//!
//! Only what is certain counts: the heads and steps that follow in the open blocks of the function,
//! whatever way the decision goes, and only where no variable that they read is set in between.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::variables::Change;
use crate::plan::around::Around;
use crate::plan::planner::Planner;
use crate::plan::scoped::{
    Access, ArgValue, Block, BoundArg, Call, Callee, Expr, ExprKind, Operand, Piece, Slot,
    Statement, StatementKind, Target, Work,
};
use crate::plan::targeted::Targeted;

/// An open block and how far it has come.
#[derive(Debug)]
pub(in crate::plan) struct Ahead<'a> {
    block: &'a Block,
    pub(super) done: usize,
    /// Statements that have been read ahead of their turn, each once.
    seen: usize,
    /// Frames that were open with it.
    frames: usize,
    /// Where it runs.
    target: Option<Rc<Targeted>>,
    /// What is around it.
    around: Option<Rc<Around>>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(block: &'a Block, planner: &Planner<'_>) -> Self {
        let (target, around) = (planner.target.clone(), planner.around.clone());
        Self { block, done: 0, seen: 0, frames: planner.frames.len(), target, around }
    }
}

/// Variables that are set between here and there.
#[derive(Default)]
struct Spoiled {
    slots: BTreeSet<Slot>,
    /// A function may set any of them.
    globals: bool,
}

impl<'a> Planner<'a> {
    /// Values that the statements ahead will ask for.
    pub(super) fn look_ahead(&mut self) -> Vec<u32> {
        let mut spoiled = Spoiled::default();
        // What is set inside an open block is not what the statements after it will read.
        spoiled.slots.extend(self.journal.iter().map(Change::slot));
        let mut roots = Vec::new();
        for level in (0..self.ahead.len()).rev() {
            let Ahead { block, done, seen, frames, ref target, ref around } = self.ahead[level];
            let (target, around) = (target.clone(), around.clone());
            if frames != self.frames.len() {
                break;
            }
            // What the current statement sets is not known: it is what is being decided.
            let current = &block.statements[done..block.statements.len().min(done + 1)];
            current.iter().for_each(|statement| spoiled.statement(statement));
            for (index, statement) in block.statements.iter().enumerate().skip(done + 1) {
                if index >= seen {
                    let mut heads = Vec::new();
                    heads_of(statement, &mut heads);
                    let certain = heads.into_iter().filter(|head| !spoiled.touches(head));
                    let certain: Vec<&Expr> = certain.filter(|head| asks(head)).collect();
                    let target = std::mem::replace(&mut self.target, target.clone());
                    let around = std::mem::replace(&mut self.around, around.clone());
                    let cells = certain.into_iter().map(|head| self.eval(head));
                    roots.extend(cells.filter_map(|cell| cell.node()));
                    (self.target, self.around) = (target, around);
                }
                spoiled.statement(statement);
            }
            self.ahead[level].seen = block.statements.len();
        }
        roots
    }
}

/// What a statement needs whatever happens inside it.
fn heads_of<'a>(statement: &'a Statement, into: &mut Vec<&'a Expr>) {
    match &statement.kind {
        StatementKind::If(branches) => {
            into.extend(branches.first().and_then(|branch| branch.condition.as_ref()));
        }
        StatementKind::When { subject, .. } => into.push(subject),
        StatementKind::For { over, .. } => into.push(over),
        StatementKind::While { condition, .. } => into.push(condition),
        StatementKind::Require(expr) => into.push(expr),
        StatementKind::Step(step) => step.operands.iter().for_each(|one| operand(one, into)),
        StatementKind::Let { source, .. } => call(source, into),
        StatementKind::Var { .. }
        | StatementKind::Assign { .. }
        // Those of a function may never be used.
        | StatementKind::Needs(_)
        | StatementKind::Try { .. }
        | StatementKind::Block(_) => {}
    }
}

fn operand<'a>(operand: &'a Operand, into: &mut Vec<&'a Expr>) {
    match &operand.work {
        Work::Shell(text) => pieces(text, into),
        Work::Call(one) => call(one, into),
    }
    for redirect in &operand.redirects {
        match &redirect.target {
            Target::Call(one) => call(one, into),
            Target::Shell(text) => pieces(text, into),
        }
    }
}

/// The arguments of a decorator; those of a function may never be used.
fn call<'a>(call: &'a Call, into: &mut Vec<&'a Expr>) {
    if let Callee::Decorator { args, .. } = &call.callee {
        arguments(args, into);
    }
}

fn arguments<'a>(args: &'a [BoundArg], into: &mut Vec<&'a Expr>) {
    for arg in args {
        match &arg.value {
            ArgValue::Expr(expr) => into.push(expr),
            ArgValue::Shell(text) => pieces(text, into),
        }
    }
}

fn pieces<'a>(pieces: &'a [Piece], into: &mut Vec<&'a Expr>) {
    into.extend(pieces.iter().filter_map(|piece| match piece {
        Piece::Data { expr, .. } | Piece::Raw(expr) => Some(expr),
        Piece::Text(_) => None,
    }));
}

/// The parts of an expression, one level down.
fn parts<'a>(expr: &'a Expr, into: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Slot(..) | ExprKind::Args => {}
        ExprKind::Text(all) | ExprKind::Array(all) | ExprKind::Function(_, all) => into.extend(all),
        ExprKind::Map(entries) => into.extend(entries.iter().map(|(_, value)| value)),
        ExprKind::Call(call) => arguments(&call.args, into),
        ExprKind::Access(base, access) => {
            into.push(base);
            into.extend(access.iter().filter_map(|one| match one {
                Access::Index(index) => Some(index),
                Access::Field(..) | Access::All(_) => None,
            }));
        }
        ExprKind::Unary(_, operand) => into.push(operand),
        ExprKind::Binary(first, rest) => {
            into.push(first);
            into.extend(rest.iter().map(|(_, _, right)| right));
        }
    }
}

fn any(expr: &Expr, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if wanted(expr) {
            return true;
        }
        parts(expr, &mut open);
    }
    false
}

/// Whether anything from the world can be in it.
fn asks(expr: &Expr) -> bool {
    any(expr, &mut |part| matches!(part.kind, ExprKind::Slot(..) | ExprKind::Call(_)))
}

impl Spoiled {
    fn touches(&self, expr: &Expr) -> bool {
        any(expr, &mut |part| match part.kind {
            ExprKind::Slot(slot @ Slot::Global(_), _) => self.globals || self.slots.contains(&slot),
            ExprKind::Slot(slot, _) => self.slots.contains(&slot),
            _ => false,
        })
    }

    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Var { slot, .. } | StatementKind::Assign { slot, .. } => {
                self.slots.insert(*slot);
            }
            StatementKind::If(branches) => branches.iter().for_each(|one| self.block(&one.body)),
            StatementKind::When { arms, .. } => arms.iter().for_each(|arm| self.block(&arm.body)),
            StatementKind::For { slots, body, .. } => {
                self.slots.extend(slots);
                self.block(body);
            }
            StatementKind::While { body, .. } | StatementKind::Block(body) => self.block(body),
            // Assignments stay inside, but what is bound is not.
            StatementKind::Try { .. } | StatementKind::Require(_) | StatementKind::Needs(_) => {}
            StatementKind::Let { slot, source, .. } => {
                self.slots.insert(*slot);
                self.called(source);
            }
            StatementKind::Step(step) => {
                for operand in &step.operands {
                    if let Work::Call(call) = &operand.work {
                        self.called(call);
                    }
                }
            }
        }
    }

    fn called(&mut self, call: &Call) {
        self.globals |= matches!(call.callee, Callee::Function { .. });
    }
}
