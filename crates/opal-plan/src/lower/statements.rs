//! Functions, blocks and constructs.

use opal_core::{Span, Value};
use opal_syntax::SyntaxKind::{self, *};

use super::expressions::is_expression;
use super::{Child, Lower};
use crate::unit::{
    Arm, AssignOp, Block, Branch, Expr, ExprKind, Function, Import, Part, Statement, StatementKind,
    Unit,
};

impl Lower<'_> {
    /// The source, and the files that follow it.
    pub(super) fn files(&mut self) -> Unit {
        let mut unit = Unit::default();
        self.next();
        let (script, imports) = self.file(&mut unit.functions);
        (unit.script, unit.imports) = (script, imports);
        while self.next().is_some() {
            let first = unit.functions.len();
            let (script, imports) = self.file(&mut unit.functions);
            let part = Part {
                first,
                script,
                imports,
                directory: None,
                is_project: false,
                start: 0,
                package: None,
            };
            unit.parts.push(part);
        }
        unit
    }

    /// The file whose node has just begun.
    fn file(&mut self, functions: &mut Vec<Function>) -> (Block, Vec<Import>) {
        let (mut script, mut imports) = (Block::default(), Vec::new());
        let start = self.end;
        self.group = None;
        while let Some(child) = self.child() {
            let Child::Node { kind, .. } = child else { continue };
            if self.has_headings {
                self.read_heading();
            }
            match kind {
                Fun | Label => functions.extend(self.function(kind)),
                SyntaxKind::Import => imports.push(self.import()),
                kind => self.statement(kind, &mut script.statements),
            }
        }
        script.span = Span::new(start, self.text.len() as u32);
        (script, imports)
    }

    /// The import whose node has just begun.
    pub(super) fn import(&mut self) -> Import {
        let start = self.start();
        let (mut path, mut path_span) = (None, Span::at(start));
        let (mut words, mut optional, mut alias) = (0, false, None);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => {
                    match words {
                        0 => optional = self.slice(span).ends_with('?'),
                        2 => alias = Some(self.name(span)),
                        _ => {}
                    }
                    words += 1;
                }
                Child::Node { kind, .. } if is_expression(kind) => {
                    let found = self.expression(kind);
                    path_span = found.span;
                    if let ExprKind::Literal(Value::String(text)) = found.kind {
                        path = Some(text.into_owned());
                    }
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        Import { path, path_span, alias, optional, span: self.since(start), file: None }
    }

    /// The block whose node has just begun.
    pub(super) fn block(&mut self, start: u32) -> Block {
        let mut block = Block::default();
        while let Some(child) = self.child() {
            if let Child::Node { kind, .. } = child {
                self.statement(kind, &mut block.statements);
            }
        }
        block.statements.shrink_to_fit();
        block.span = self.since(start);
        block
    }

    /// The statement whose node of `kind` has just begun.
    pub(super) fn statement(&mut self, kind: SyntaxKind, into: &mut Vec<Statement>) {
        let start = self.start();
        let statement = match kind {
            VarDecl => self.var(1),
            VarBinding => self.var(0),
            VarGroup => return self.var_group(into),
            Assign => self.assign(),
            If => self.r#if(),
            When => self.when(),
            For => self.r#for(),
            While => self.r#while(),
            Try => self.r#try(),
            SyntaxKind::Block => Some(StatementKind::Block(Box::new(self.block(start)))),
            Let => self.r#let(),
            Requirement => self.requirement(),
            ShellStep | Chain | Call => self.step(kind).map(StatementKind::Step),
            _ => {
                self.finish();
                None
            }
        };
        if let Some(kind) = statement {
            into.push(Statement { kind, span: self.since(start) });
        }
    }

    fn var_group(&mut self, into: &mut Vec<Statement>) {
        while let Some(child) = self.child() {
            if let Child::Node { kind, .. } = child {
                self.statement(kind, into);
            }
        }
    }

    /// A declaration after so many keywords.
    fn var(&mut self, mut keywords: u32) -> Option<StatementKind> {
        let (mut name, mut value) = (None, None);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, .. } if keywords > 0 => keywords -= 1,
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Node { kind, .. } if is_expression(kind) => {
                    value = Some(self.expression(kind))
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        let value = Box::new(value.unwrap_or_else(|| self.missing()));
        Some(StatementKind::Var { name: name?, value })
    }

    fn assign(&mut self) -> Option<StatementKind> {
        let (mut name, mut op, mut value) = (None, AssignOp::Set, None);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Token { kind, .. } => op = assign_op(kind),
                Child::Node { kind, .. } => value = Some(Box::new(self.expression(kind))),
            }
        }
        Some(StatementKind::Assign { name: name?, op, value })
    }

    /// An expression, if there is one, and a block, if there is one, of the node that has begun.
    fn head_and_block(&mut self) -> (Option<Expr>, Block) {
        let (mut head, mut body) = (None, Block::default());
        loop {
            let start = self.start();
            let Some(child) = self.child() else { break };
            match child {
                Child::Node { kind: SyntaxKind::Block, .. } => body = self.block(start),
                Child::Node { kind, .. } if is_expression(kind) => {
                    head = Some(self.expression(kind))
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        (head, body)
    }

    fn r#if(&mut self) -> Option<StatementKind> {
        let mut branches = Vec::new();
        let (mut condition, mut body) = (None, Block::default());
        loop {
            let start = self.start();
            let Some(child) = self.child() else { break };
            match child {
                Child::Node { kind: SyntaxKind::Block, .. } => body = self.block(start),
                Child::Node { kind: ElseClause, .. } => {
                    let (condition, body) = self.head_and_block();
                    branches.push(Branch { condition, body });
                }
                Child::Node { kind, .. } if is_expression(kind) => {
                    condition = Some(self.expression(kind))
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        let condition = Some(condition.unwrap_or_else(|| self.missing()));
        branches.insert(0, Branch { condition, body });
        Some(StatementKind::If(branches))
    }

    fn when(&mut self) -> Option<StatementKind> {
        let (mut subject, mut arms) = (None, Vec::new());
        while let Some(child) = self.child() {
            match child {
                Child::Node { kind: SyntaxKind::Arm, .. } => arms.push(self.arm()),
                Child::Node { kind, .. } if is_expression(kind) => {
                    subject = Some(self.expression(kind))
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        let subject = Box::new(subject.unwrap_or_else(|| self.missing()));
        Some(StatementKind::When { subject, arms })
    }

    fn arm(&mut self) -> Arm {
        let first = self.start();
        let (mut patterns, mut body) = (Vec::new(), Block::default());
        let mut arrow = false;
        loop {
            let start = self.start();
            let Some(child) = self.child() else { break };
            match child {
                Child::Token { kind: Arrow, .. } => arrow = true,
                Child::Token { .. } => {}
                Child::Node { kind: SyntaxKind::Block, .. } if arrow => body = self.block(start),
                Child::Node { kind, .. } if !arrow && is_expression(kind) => {
                    patterns.push(self.expression(kind));
                }
                Child::Node { kind, .. } => {
                    self.statement(kind, &mut body.statements);
                    body.span = self.since(start);
                }
            }
        }
        // `else` is read as a name.
        patterns.retain(|p| !matches!(&p.kind, ExprKind::Name(name) if name == "else"));
        Arm { patterns, body, span: self.since(first) }
    }

    fn r#for(&mut self) -> Option<StatementKind> {
        let (mut names, mut over, mut body) = (Vec::new(), None, Block::default());
        let mut words = 0;
        loop {
            let start = self.start();
            let Some(child) = self.child() else { break };
            match child {
                Child::Token { kind: Ident, span, .. } => {
                    let name = self.name(span);
                    words += 1;
                    if words > 1 && over.is_none() && name.text != "in" {
                        names.push(name);
                    }
                }
                Child::Token { .. } => {}
                Child::Node { kind: SyntaxKind::Block, .. } => body = self.block(start),
                Child::Node { kind, .. } if is_expression(kind) => {
                    over = Some(self.expression(kind))
                }
                Child::Node { .. } => self.finish(),
            }
        }
        let over = Box::new(over.unwrap_or_else(|| self.missing()));
        Some(StatementKind::For { names, over, body: Box::new(body) })
    }

    fn r#while(&mut self) -> Option<StatementKind> {
        let (condition, body) = self.head_and_block();
        let condition = Box::new(condition.unwrap_or_else(|| self.missing()));
        Some(StatementKind::While { condition, body: Box::new(body) })
    }

    fn r#try(&mut self) -> Option<StatementKind> {
        let (mut body, mut catch, mut finally) = (Block::default(), None, None);
        loop {
            let start = self.start();
            let Some(child) = self.child() else { break };
            match child {
                Child::Node { kind: SyntaxKind::Block, .. } => body = self.block(start),
                Child::Node { kind: CatchClause, .. } => catch = Some(self.head_and_block().1),
                Child::Node { kind: FinallyClause, .. } => finally = Some(self.head_and_block().1),
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        let (catch, finally) = (catch.map(Box::new), finally.map(Box::new));
        Some(StatementKind::Try { body: Box::new(body), catch, finally })
    }

    fn r#let(&mut self) -> Option<StatementKind> {
        let (mut name, mut source) = (None, None);
        let mut access = Vec::new();
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Node { kind: Call, .. } => source = Some(Box::new(self.call(&mut access))),
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        Some(StatementKind::Let { name: name?, source: source?, access: access.into() })
    }

    fn requirement(&mut self) -> Option<StatementKind> {
        let mut reference = None;
        while let Some(child) = self.child() {
            if let Child::Node { .. } = child {
                reference = Some(Box::new(self.reference()));
            }
        }
        reference.map(StatementKind::Require)
    }
}

fn assign_op(kind: SyntaxKind) -> AssignOp {
    match kind {
        PlusEq => AssignOp::Add,
        MinusEq => AssignOp::Subtract,
        StarEq => AssignOp::Multiply,
        SlashEq => AssignOp::Divide,
        PercentEq => AssignOp::Remainder,
        PlusPlus => AssignOp::Increment,
        MinusMinus => AssignOp::Decrement,
        _ => AssignOp::Set,
    }
}
