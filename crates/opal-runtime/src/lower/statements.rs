//! Functions, blocks and constructs.

use opal_core::types::{Choices, TypeRef};
use opal_core::{Span, Type, Value};
use opal_syntax::SyntaxKind::{self, *};

use super::expressions::is_expression;
use super::{Child, Lower};
use crate::unit::{
    Arm, AssignOp, Block, Branch, Expr, ExprKind, Function, Name, Param, Statement, StatementKind,
    TypeName, Unit,
};

impl Lower<'_> {
    pub(super) fn file(&mut self) -> Unit {
        let mut unit = Unit { functions: Vec::new(), script: Block::default() };
        self.next();
        while let Some(child) = self.child() {
            let Child::Node { kind, .. } = child else { continue };
            match kind {
                Fun | Label => unit.functions.extend(self.function(kind)),
                kind => self.statement(kind, &mut unit.script.statements),
            }
        }
        unit.script.span = Span::new(0, self.text.len() as u32);
        unit
    }

    /// The signature of the function whose node has just begun; its body is passed over.
    fn function(&mut self, kind: SyntaxKind) -> Option<Function> {
        let (mut name, mut params, mut mark) = (None, Vec::new(), 0);
        let mut docs = String::new();
        let start = self.start();
        let mut keyword = kind == Fun;
        loop {
            let here = self.cursor.mark();
            let Some(child) = self.child() else { break };
            match child {
                Child::Token { kind: Ident, index, span } if name.is_none() => {
                    if docs.is_empty() {
                        docs = self.docs(index);
                    }
                    if keyword {
                        keyword = false;
                    } else {
                        name = Some(self.name(span));
                    }
                }
                Child::Token { .. } => {}
                Child::Node { kind: ParamList, .. } => params = self.params(),
                Child::Node { kind: Error, .. } => self.finish(),
                Child::Node { .. } => {
                    mark = here;
                    self.cursor.jump(here);
                    self.cursor.skip_node();
                }
            }
        }
        let name: Name = name?;
        let span = self.since(start);
        Some(Function {
            name,
            docs,
            params,
            body: Block::default(),
            label: kind == Label,
            span,
            mark,
        })
    }

    /// The statement or block at the cursor.
    pub(super) fn function_body(&mut self) -> Block {
        let start = self.start();
        let mut body = Block::default();
        match self.child() {
            Some(Child::Node { kind: SyntaxKind::Block, .. }) => return self.block(start),
            Some(Child::Node { kind, .. }) => self.statement(kind, &mut body.statements),
            _ => {}
        }
        body.span = self.since(start);
        body
    }

    /// The comment lines directly above the token at `index`, without their markers.
    fn docs(&self, index: usize) -> String {
        let tokens = self.parse.tokens();
        let mut lines: Vec<&str> = Vec::new();
        for at in (0..index).rev() {
            let text = self.slice(tokens.span(at));
            match tokens.kind(at) {
                Blank if text.bytes().filter(|byte| *byte == b'\n').count() <= 1 => {}
                Comment if !text.starts_with("/*") && self.begins_line(tokens.start(at)) => {
                    lines.push(text);
                }
                _ => break,
            }
        }
        lines.reverse();
        let lines = lines.iter().flat_map(|comment| comment.lines()).map(|line| {
            let line = line.trim();
            let line = line.trim_start_matches(['/', '#']);
            line.strip_prefix(' ').unwrap_or(line).trim_end()
        });
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    fn begins_line(&self, offset: u32) -> bool {
        let before = &self.text[..offset as usize];
        before.trim_end_matches([' ', '\t']).ends_with('\n') || before.trim().is_empty()
    }

    fn params(&mut self) -> Vec<Param> {
        let mut params = Vec::new();
        while let Some(child) = self.child() {
            match child {
                Child::Node { kind: SyntaxKind::Param, .. } => params.extend(self.param()),
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        params
    }

    fn param(&mut self) -> Option<Param> {
        let (mut name, mut ty, mut default, mut rest) = (None, None, None, false);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Token { kind: Ellipsis, .. } => rest = true,
                Child::Token { .. } => {}
                Child::Node { kind: TypeExpr, .. } => ty = Some(self.type_name()),
                Child::Node { kind, .. } => default = Some(self.expression(kind)),
            }
        }
        Some(Param { name: name?, ty, default, rest })
    }

    fn type_name(&mut self) -> TypeName {
        let start = self.start();
        let (mut written, mut inner, mut choices) = (String::new(), None, Vec::new());
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => written = self.slice(span).to_owned(),
                Child::Token { .. } => {}
                Child::Node { kind: TypeExpr, .. } => inner = Some(self.type_name()),
                Child::Node { kind, .. } => choices.push(self.expression(kind)),
            }
        }
        let span = self.since(start);
        if written.is_empty() && !choices.is_empty() {
            return TypeName { ty: Some(closed_set(&choices)), written: String::new(), span };
        }
        match inner {
            Some(inner) if inner.ty.is_none() => inner,
            Some(inner) if matches!(written.as_str(), "Array" | "Map") => {
                let of = TypeRef::Shared(std::sync::Arc::new(inner.ty.unwrap_or(Type::Any)));
                let ty = if written == "Array" { Type::Array(of) } else { Type::Map(of) };
                TypeName { ty: Some(ty), written, span }
            }
            Some(_) => TypeName { ty: None, written: self.slice(span).to_owned(), span },
            None => TypeName { ty: Type::named(&written), written, span },
        }
    }

    /// The block whose node has just begun.
    pub(super) fn block(&mut self, start: u32) -> Block {
        let mut block = Block::default();
        while let Some(child) = self.child() {
            if let Child::Node { kind, .. } = child {
                self.statement(kind, &mut block.statements);
            }
        }
        block.span = self.since(start);
        block
    }

    /// The statement whose node of `kind` has just begun.
    pub(super) fn statement(&mut self, kind: SyntaxKind, into: &mut Vec<Statement>) {
        let start = self.start();
        let statement = match kind {
            VarDecl | VarBinding => self.var(),
            VarGroup => return self.var_group(into),
            Assign => self.assign(),
            If => self.r#if(),
            When => self.when(),
            For => self.r#for(),
            While => self.r#while(),
            Try => self.r#try(),
            SyntaxKind::Block => Some(StatementKind::Block(self.block(start))),
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

    fn var(&mut self) -> Option<StatementKind> {
        let (mut name, mut value) = (None, None);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Node { kind, .. } if is_expression(kind) => {
                    value = Some(self.expression(kind))
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        let value = value.unwrap_or_else(|| self.missing());
        Some(StatementKind::Var { name: name.filter(|name| name.text != "var")?, value })
    }

    fn assign(&mut self) -> Option<StatementKind> {
        let (mut name, mut op, mut value) = (None, AssignOp::Set, None);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Token { kind, .. } => op = assign_op(kind),
                Child::Node { kind, .. } => value = Some(self.expression(kind)),
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
        Some(StatementKind::When { subject: subject.unwrap_or_else(|| self.missing()), arms })
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
        let over = over.unwrap_or_else(|| self.missing());
        Some(StatementKind::For { names, over, body })
    }

    fn r#while(&mut self) -> Option<StatementKind> {
        let (condition, body) = self.head_and_block();
        let condition = condition.unwrap_or_else(|| self.missing());
        Some(StatementKind::While { condition, body })
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
        Some(StatementKind::Try { body, catch, finally })
    }

    fn r#let(&mut self) -> Option<StatementKind> {
        let (mut name, mut source) = (None, None);
        let mut access = Vec::new();
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: Ident, span, .. } => name = Some(self.name(span)),
                Child::Node { kind: Call, .. } => source = Some(self.call(&mut access)),
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        Some(StatementKind::Let { name: name?, source: source?, access })
    }

    fn requirement(&mut self) -> Option<StatementKind> {
        let mut reference = None;
        while let Some(child) = self.child() {
            if let Child::Node { .. } = child {
                reference = Some(self.reference());
            }
        }
        reference.map(StatementKind::Require)
    }
}

fn closed_set(choices: &[Expr]) -> Type {
    let names = choices.iter().filter_map(|choice| match &choice.kind {
        ExprKind::Literal(Value::String(text)) => Some(text.clone().into_owned()),
        _ => None,
    });
    Type::OneOf(Choices::Shared(names.collect()))
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
