//! The scope-resolved form: every name is a slot, every path a descriptor, every argument bound to
//! its parameter. Nothing is looked up by name, and nothing replaces text, after this.

use std::rc::Rc;

use opal_core::Span;
use opal_core::context::Context;
use opal_core::decorator::{Descriptor, Param as DecoratorParam};
use opal_core::plan::{ChainOperator, RedirectOperator};

use super::datum::Datum;
use crate::unit::{BinaryOp, Builtin, UnaryOp};

/// What the target reaches, and no more.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// The values of the top-level variables, in the order of their declarations; none where the
    /// target does not reach it.
    pub(crate) globals: Vec<Option<Rc<Expr>>>,
    /// By the unit's index; none where the target does not reach it.
    pub(crate) functions: Vec<Option<Rc<Function>>>,
    /// The top-level steps, where they are the target.
    pub(crate) script: Option<Rc<Function>>,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Rc<str>,
    pub(crate) params: Vec<Param>,
    /// Variables of its own, parameters first.
    pub(crate) slots: u32,
    pub(crate) body: Block,
    /// Where a call of it begins, wherever the call is: the directory of an imported project.
    pub(crate) directory: Option<Rc<str>>,
    /// Where it begins without a call: where the functions of its file start.
    pub(crate) home: Option<Rc<str>>,
    /// The top-level variables it reads, with those they need, in the order of declaration.
    pub(crate) globals: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: Rc<str>,
    pub(crate) ty: opal_core::Type,
    pub(crate) default: Option<Expr>,
    pub(crate) rest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Local(u32),
    Global(u32),
}

#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
}

#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum StatementKind {
    Var {
        slot: Slot,
        value: Rc<Expr>,
    },
    Assign {
        slot: Slot,
        op: Option<BinaryOp>,
        value: Expr,
    },
    If(Vec<Branch>),
    When {
        subject: Expr,
        arms: Vec<Arm>,
    },
    For {
        slots: Vec<Slot>,
        name: Rc<str>,
        over: Expr,
        body: Block,
    },
    While {
        condition: Expr,
        body: Block,
    },
    Try {
        body: Block,
        catch: Option<Block>,
        finally: Option<Block>,
    },
    Block(Block),
    Let {
        slot: Slot,
        name: Rc<str>,
        source: Call,
        access: Vec<Access>,
    },
    Require(Expr),
    /// `@needs.NAME(…)`.
    Needs(Call),
    Step(Step),
}

#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) condition: Option<Expr>,
    pub(crate) body: Block,
}

#[derive(Debug)]
pub(crate) struct Arm {
    /// Empty for `else`.
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) body: Block,
}

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) kind: PatternKind,
    /// As the plan names it.
    pub(crate) shown: String,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum PatternKind {
    Value(Datum),
    Regex(regex::Regex),
    Range(i64, i64),
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Const(Datum),
    Slot(Slot, Rc<str>),
    /// `@args`.
    Args,
    /// The parts of a string, one after the other.
    Text(Vec<Expr>),
    Array(Vec<Expr>),
    Map(Vec<(Rc<str>, Expr)>),
    Call(Rc<ValueCall>),
    Function(Builtin, Vec<Expr>),
    Access(Box<Expr>, Vec<Access>),
    Unary(Vec<UnaryOp>, Box<Expr>),
    Binary(Box<Expr>, Vec<(BinaryOp, Span, Expr)>),
}

/// A field, with the reference that it follows, for messages.
#[derive(Clone, Debug)]
pub(crate) struct FieldName {
    pub(crate) name: Rc<str>,
    pub(crate) of: Option<Rc<str>>,
}

#[derive(Debug)]
pub(crate) enum Access {
    Field(FieldName, Span),
    Index(Expr),
    All(Span),
}

/// A decorator that gives a value.
#[derive(Debug)]
pub(crate) struct ValueCall {
    pub(crate) descriptor: &'static Descriptor,
    pub(crate) subject: Option<Rc<str>>,
    pub(crate) args: Vec<BoundArg>,
    /// The directory that it is read from, where that is another than the source's and matters.
    pub(crate) directory: Option<Rc<str>>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct BoundArg {
    pub(crate) param: ArgName,
    pub(crate) value: ArgValue,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum ArgName {
    Param(&'static DecoratorParam),
    /// A further name, where the decorator takes any.
    Open(Rc<str>),
}

#[derive(Debug)]
pub(crate) enum ArgValue {
    Expr(Expr),
    /// A literal given to a parameter that is shell text.
    Shell(Vec<Piece>),
}

#[derive(Debug)]
pub(crate) enum Piece {
    Text(Rc<str>),
    Data { expr: Expr, context: Context, dash: bool },
    Raw(Expr),
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) operands: Vec<Operand>,
    /// One fewer than operands.
    pub(crate) operators: Vec<ChainOperator>,
}

#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) work: Work,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Work {
    Shell(Vec<Piece>),
    Call(Call),
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) operator: RedirectOperator,
    pub(crate) target: Target,
}

#[derive(Debug)]
pub(crate) enum Target {
    Call(Call),
    Shell(Vec<Piece>),
}

/// A decorator where a command is.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) block: Option<Block>,
    /// The text of a block that is not steps.
    pub(crate) text: Option<Rc<str>>,
    /// The directory of the imported project that it is in, seen from that of the source.
    pub(crate) directory: Option<Rc<str>>,
    pub(crate) span: Span,
}

/// An argument of a function of the file.
#[derive(Debug)]
pub(crate) struct CallArg {
    /// The parameter that it names; none for the next position.
    pub(crate) param: Option<usize>,
    /// One argument an element.
    pub(crate) is_spread: bool,
    pub(crate) value: Expr,
}

#[derive(Debug)]
pub(crate) enum Callee {
    Decorator {
        descriptor: &'static Descriptor,
        subject: Option<Rc<str>>,
        args: Vec<BoundArg>,
    },
    /// With the decorator, where the function is that of a package.
    Function {
        index: usize,
        name: Rc<str>,
        args: Vec<CallArg>,
        decorator: Option<&'static Descriptor>,
    },
}
