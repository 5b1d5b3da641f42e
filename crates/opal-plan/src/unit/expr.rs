//! Expressions and references.

use opal_core::{Span, Value};

use super::{Name, Rare};

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

impl Expr {
    /// Whether it ends in `.*`: as an argument of a call it gives one argument an element.
    #[must_use]
    pub(crate) fn is_spread(&self) -> bool {
        let access = match &self.kind {
            ExprKind::Reference(reference) => &*reference.access,
            ExprKind::Access { access, .. } => access,
            _ => return false,
        };
        matches!(access.last(), Some(Access::All(_)))
    }
}

#[derive(Debug)]
pub enum ExprKind {
    /// What an error left; nothing more is said about it.
    Missing,
    Literal(Value),
    Regex(String),
    /// `"…"`, where at least one piece is not text.
    Str(Vec<StrPiece>),
    Array(Vec<Expr>),
    Map(Vec<(Key, Expr)>),
    /// A bare name: the variable of that name.
    Name(String),
    /// `split(s, ",")`.
    Function {
        name: Name,
        args: Vec<Argument>,
    },
    Reference(Box<Reference>),
    Access {
        base: Box<Expr>,
        access: Vec<Access>,
    },
    Unary {
        ops: Vec<UnaryOp>,
        operand: Box<Expr>,
    },
    /// Applied from left to right: `((first op rest) op rest) …`.
    Binary {
        first: Box<Expr>,
        rest: Vec<(BinaryOp, Span, Expr)>,
    },
}

#[derive(Debug)]
pub enum StrPiece {
    /// Escapes are already decoded.
    Text(String),
    /// `@name.ext`: text, unless it is a typo.
    AtWord(Name),
    Reference(Reference),
}

#[derive(Debug)]
pub struct Key {
    pub name: Name,
}

/// `@path.name(args).field[0]`.
#[derive(Debug)]
pub struct Reference {
    /// All that follows the `@`, up to arguments or the first field: `env.HOME`.
    pub path: Name,
    pub args: Rare<Argument>,
    /// Parentheses are there, perhaps empty ones.
    pub called: bool,
    pub access: Rare<Access>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Argument {
    pub name: Option<Name>,
    pub value: Expr,
    pub span: Span,
}

#[derive(Debug)]
pub enum Access {
    /// `.name` or `.0`.
    Field(Name),
    Index(Expr),
    /// `.*`.
    All(Span),
}

impl Access {
    /// Where it begins, the dot or the bracket left out.
    #[must_use]
    pub(crate) fn start(&self) -> u32 {
        match self {
            Self::Field(name) => name.span.start.saturating_sub(1),
            Self::Index(index) => index.span.start.saturating_sub(1),
            Self::All(span) => span.start,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Range,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl BinaryOp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Range => "...",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

impl Reference {
    /// The namespace and the name, where the path is `var.NAME`, `env.NAME` or `let.NAME`.
    #[must_use]
    pub fn named(&self) -> Option<(&str, &str)> {
        self.path.text.split_once('.').filter(|(space, _)| matches!(*space, "var" | "env" | "let"))
    }
}

/// What to write instead of a field that is none.
pub(crate) fn no_field(name: &str, of: Option<&str>) -> String {
    match of {
        Some(of) => {
            format!("for the value followed by the text `.{name}`, write `@{of}().{name}`")
        }
        None => "only a String, an Array and a Map have `.length`".to_owned(),
    }
}
