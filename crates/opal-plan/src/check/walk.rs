//! The walk: statements in source order, scopes opened and closed around them.

use std::collections::BTreeSet;

use opal_core::types::TypeRef;
use opal_core::{Code, Diagnostic, Span, Type, Value};

use super::checker::Checker;
use super::dependencies::Dependencies;
use super::lets::{Lets, Site};
use super::names::{Names, VarKind};
use super::observer::Observer;
use crate::unit::{
    Arm, AssignOp, BinaryOp, Block, Branch, Expr, ExprKind, Name, Statement, StatementKind,
};

/// Every `var` in a block and the blocks inside it.
fn declarations(block: &Block, into: &mut Vec<(String, Span)>) {
    for statement in block.statements.iter().filter(|it| !it.kind.is_command()) {
        if let StatementKind::Var { name, .. } = &statement.kind {
            into.push((name.text.clone(), name.span));
        }
        statement.kind.blocks(&mut |inner| declarations(inner, into));
    }
}

/// Names that are assigned anywhere in a block: their types are not the first value's for sure.
fn assigned(block: &Block, into: &mut BTreeSet<String>) {
    for statement in block.statements.iter().filter(|it| !it.kind.is_command()) {
        if let StatementKind::Assign { name, op: AssignOp::Set, .. } = &statement.kind {
            into.insert(name.text.clone());
        }
        statement.kind.blocks(&mut |inner| assigned(inner, into));
    }
}

impl<O: Observer> Checker<'_, O> {
    /// One file: what it declares at top level is seen in it, and nowhere else.
    pub(super) fn walk_file(&mut self, file: usize) {
        self.file = file;
        self.names = Names::default();
        self.lets = Lets::default();
        self.check_imports();
        self.walk_script();
        self.unit.functions_of(file).for_each(|index| self.walk_function(index));
        self.check_globals();
        self.say_unused();
    }

    fn walk_script(&mut self) {
        let script = self.unit.script_of(self.file);
        self.begin(None, script);
        self.enter(script.span);
        self.lets.enter(script, false);
        self.statements(script);
        self.lets.leave();
        // Functions look up the script's variables by name: nothing is left open.
        self.leave();
    }

    fn walk_function(&mut self, index: usize) {
        let function = &self.unit.functions[index];
        let body = &function.body;
        self.begin(Some(index), body);
        self.enter(function.span.to(body.span));
        let mut seen = BTreeSet::new();
        for param in function.params.iter().filter(|param| seen.insert(&param.name.text)) {
            self.parameter_default(param);
            let ty = self.parameter_type(param);
            self.declare(&param.name, ty, VarKind::Param);
        }
        self.block(body, false);
        self.leave();
    }

    fn begin(&mut self, function: Option<usize>, block: &Block) {
        self.function = function;
        self.depth = 0;
        self.catches = 0;
        self.dependencies = Dependencies::default();
        let mut declared = Vec::new();
        declarations(block, &mut declared);
        self.names.begin(function.is_none(), declared);
        self.lets.begin(block);
    }

    /// Opens a scope for variables.
    fn enter(&mut self, span: Span) {
        self.names.enter();
        self.observer.enter(span);
    }

    fn leave(&mut self) {
        self.names.leave();
        self.observer.leave();
    }

    pub(super) fn block(&mut self, block: &Block, parallel: bool) {
        self.enter(block.span);
        self.lets.enter(block, parallel);
        self.depth += 1;
        if parallel {
            for statement in &block.statements {
                self.lets.enter_branch();
                self.statement(statement);
                self.lets.leave();
            }
        } else {
            self.statements(block);
        }
        self.depth -= 1;
        self.lets.leave();
        self.leave();
    }

    fn statements(&mut self, block: &Block) {
        let mut changed = BTreeSet::new();
        assigned(block, &mut changed);
        for statement in &block.statements {
            self.statement(statement);
            if let StatementKind::Var { name, .. } = &statement.kind
                && changed.contains(&name.text)
            {
                self.names.loosen(&name.text);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Var { name, value } => {
                self.names.declaring = Some(name.span);
                let ty = self.expression(value, Site::Var);
                self.names.declaring = None;
                self.declare(name, ty, VarKind::Var);
                if self.is_resolved(value) {
                    self.names.resolve(&name.text);
                }
                if is_plain(value) {
                    self.names.note_plain(&name.text);
                }
            }
            StatementKind::Assign { name, op, value } => self.assign(name, *op, value.as_deref()),
            StatementKind::If(branches) => self.branches(branches, statement.span),
            StatementKind::When { subject, arms } => self.when(subject, arms, statement.span),
            StatementKind::For { names, over, body } => self.r#for(names, over, body),
            StatementKind::While { condition, body } => {
                self.condition(condition);
                self.at_run_time("while", |checker| checker.block(body, false));
            }
            StatementKind::Try { body, catch, finally } => {
                let words = ["try", "catch", "finally"];
                let all = [Some(body), catch.as_ref(), finally.as_ref()];
                for (word, block) in words.into_iter().zip(all) {
                    if let Some(block) = block {
                        let is_catch = u32::from(word == "catch");
                        self.catches += is_catch;
                        self.at_run_time(word, |checker| {
                            checker.conditional(word, statement.span, block);
                        });
                        self.catches -= is_catch;
                    }
                }
            }
            StatementKind::Block(block) => {
                self.at_run_time("{ … }", |checker| checker.block(block, false));
            }
            StatementKind::Let { name, source, access } => {
                self.note_step(statement.span);
                self.r#let(name, source, access);
            }
            StatementKind::Require(reference) => {
                self.reference(reference, Site::Var);
            }
            StatementKind::Step(step) => self.step(step, statement.span),
        }
    }

    fn assign(&mut self, name: &Name, op: AssignOp, value: Option<&Expr>) {
        let given = value.map(|value| self.expression(value, Site::Var));
        if value.is_some_and(|value| self.is_resolved(value)) {
            self.names.resolve(&name.text);
        }
        let Some(ty) = self.assigned_type(name) else { return };
        self.note_assignment(name);
        let binary = match op {
            AssignOp::Set => return,
            AssignOp::Add => BinaryOp::Add,
            AssignOp::Subtract => BinaryOp::Subtract,
            AssignOp::Multiply => BinaryOp::Multiply,
            AssignOp::Divide => BinaryOp::Divide,
            AssignOp::Remainder => BinaryOp::Remainder,
            AssignOp::Increment | AssignOp::Decrement => {
                if !Type::Int.accepts(&ty) {
                    let message = format!(
                        "`{}` is {}, but only an Int can be incremented",
                        name.text,
                        ty.with_article()
                    );
                    self.error(Code::OperandTypes, name.span, message, "use `NAME = …`");
                }
                return;
            }
        };
        if let (Some(value), Some(given)) = (value, given) {
            self.combine(binary, value.span, (&ty, name.span), (&given, value.span));
        }
    }

    fn condition(&mut self, condition: &Expr) {
        let ty = self.expression(condition, Site::Condition);
        self.require_bool(&ty, condition);
    }

    fn conditional(&mut self, word: &'static str, span: Span, block: &Block) {
        // The construct's word begins it; `catch` and `finally` precede their block.
        let keyword = match word {
            "catch" | "finally" => Span::new(block.span.start, block.span.start + 1),
            _ => Span::new(span.start, span.start + word.len() as u32),
        };
        self.lets.enter_conditional(word, keyword);
        self.block(block, false);
        self.lets.leave_conditional();
    }

    fn branches(&mut self, branches: &[Branch], span: Span) {
        for branch in branches {
            if let Some(condition) = &branch.condition {
                self.condition(condition);
            }
            self.conditional("if", span, &branch.body);
        }
    }

    fn when(&mut self, subject: &Expr, arms: &[Arm], span: Span) {
        let ty = self.expression(subject, Site::WhenSubject);
        for (index, arm) in arms.iter().enumerate() {
            if arm.patterns.is_empty() && index + 1 < arms.len() {
                let word = Span::new(
                    arm.span.start,
                    arm.span.start + 4.min(arm.span.end - arm.span.start),
                );
                let message = "no arm after this `else` can match";
                self.error(Code::Syntax, word, message, "put `else` last");
            }
            for pattern in &arm.patterns {
                let given = self.expression(pattern, Site::Pattern);
                self.pattern(&ty, pattern, &given);
            }
            self.conditional("when", span, &arm.body);
        }
    }

    fn pattern(&mut self, subject: &Type, pattern: &Expr, given: &Type) {
        let literal = matches!(
            pattern.kind,
            ExprKind::Literal(_) | ExprKind::Regex(_) | ExprKind::Unary { .. } | ExprKind::Missing
        ) || matches!(&pattern.kind, ExprKind::Binary { rest, .. }
            if rest.iter().all(|(op, ..)| *op == BinaryOp::Range));
        if !literal {
            self.error(
                Code::Syntax,
                pattern.span,
                "the patterns of a `when` are literals",
                "compare with other values in an `if … { } else if … { }`",
            );
            return;
        }
        let wanted = match (&pattern.kind, given) {
            (ExprKind::Regex(_), _) => Type::String,
            (ExprKind::Binary { .. }, Type::Array(element)) => element.get().clone(),
            (_, given) => given.clone(),
        };
        if let (Type::OneOf(choices), ExprKind::Literal(Value::String(text))) =
            (subject, &pattern.kind)
            && !choices.contains(text)
        {
            let message = format!("the subject is never `{text}`");
            let help = format!("it is one of {}", opal_core::parameter::listed(choices.iter()));
            self.error(Code::NotAChoice, pattern.span, message, help);
            return;
        }
        let number =
            matches!((subject, &wanted), (Type::Float, Type::Int) | (Type::Int, Type::Float));
        if wanted != Type::Null && *subject != Type::Null && !number && !subject.accepts(&wanted) {
            let message =
                format!("{} never matches {}", subject.with_article(), wanted.with_article());
            let error = Diagnostic::new(Code::OperandTypes, pattern.span, message);
            self.report(error.help("convert the subject, as in `when int(x) { … }`"));
        }
    }

    fn r#for(&mut self, names: &[Name], over: &Expr, body: &Block) {
        let ty = self.expression(over, Site::LoopSource);
        let resolved = self.is_resolved(over);
        let map = matches!(ty, Type::Map(_) | Type::Object(_));
        let iterable = map || matches!(ty, Type::Array(_) | Type::Any);
        if !iterable {
            let error = Diagnostic::new(
                Code::NotIterable,
                over.span,
                format!("{} has no elements", ty.with_article()),
            )
            .help(match ty {
                Type::String | Type::OneOf(_) => {
                    "split it first: `split(text, \",\")` or `lines(text)`".to_owned()
                }
                Type::Int => "count with a range: `1...n`".to_owned(),
                _ => "loop over an Array, a Map or a range".to_owned(),
            });
            self.report(error);
        } else if (names.len() == 2 && matches!(ty, Type::Array(_))) || (names.len() == 1 && map) {
            let (has, form) = if map {
                ("a Map has keys and values", "for KEY, VALUE in MAP { … }")
            } else {
                ("an Array has no keys", "for ITEM in LIST { … }")
            };
            let error = Diagnostic::new(Code::NotIterable, over.span, has);
            self.report(error.help(format!("write `{form}`")));
        }
        self.enter(body.span);
        for (index, name) in names.iter().enumerate() {
            let element = match &ty {
                Type::Array(element) => TypeRef::get(element).clone(),
                _ if names.len() == 2 && index == 0 => Type::String,
                _ => Type::Any,
            };
            self.declare(name, element, VarKind::Loop);
            if resolved {
                self.names.resolve(&name.text);
            }
        }
        self.block(body, false);
        self.leave();
    }
}

/// A literal in which no program sees more than a word.
fn is_plain(value: &Expr) -> bool {
    let ExprKind::Literal(Value::String(text)) = &value.kind else { return false };
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:@%+,-".contains(&byte))
}
