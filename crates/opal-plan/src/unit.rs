//! The program, in the form that every front end lowers to.
//!
//! Nothing here knows tokens or trees: a unit could as well come from YAML. Every part carries the
//! place it came from, for messages only. Lists are flat where sources can be long (`a + b + c`,
//! `else if` chains), so that walking and dropping a unit never recurses deeper than its blocks
//! and brackets, which the grammar bounds.

mod builtin;
pub mod expr;
mod files;
mod mentions;
mod names;
mod rare;
pub mod step;
mod types;

use opal_core::{Span, Type};

pub use builtin::Builtin;
pub(crate) use expr::no_field;
pub use expr::{Access, Argument, BinaryOp, Expr, ExprKind, Key, Reference, StrPiece, UnaryOp};
pub use files::{FileLinks, Import, ImportKind, Links, PackageFile, Part};
pub use mentions::Mention;
pub use names::{FunctionNames, Lookup};
pub use rare::Rare;
pub use step::{
    BlockText, Call, CallKind, Operand, Piece, Redirect, ShellText, Step, Target, Work,
};
pub(crate) use types::{conversion, literal_type, result};

/// A name and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Debug, Default)]
pub struct Unit {
    /// Those of the source, then those of each imported file.
    pub functions: Vec<Function>,
    /// The statements at top level, in order.
    pub script: Block,
    /// The imports of the source, in order.
    pub imports: Vec<Import>,
    /// The imported files.
    pub parts: Vec<Part>,
}

#[derive(Debug)]
pub struct Function {
    pub name: Name,
    /// The comment block directly above, without its markers.
    pub docs: String,
    /// The heading that it is under; only in an outline and for an editor.
    pub group: Option<String>,
    pub params: Vec<Param>,
    /// Empty in an outline.
    pub body: Block,
    /// Written in the label form.
    pub label: bool,
    /// From `fun` to the end of the parameters.
    pub span: Span,
}

/// The documentation of a function, taken apart.
#[derive(Debug)]
pub struct Documentation<'f> {
    /// Without the lines about parameters.
    pub text: String,
    /// For each parameter what its line `NAME: text` says.
    pub params: Vec<Option<&'f str>>,
}

impl Function {
    /// What the documentation says about the function, and about its parameters.
    #[must_use]
    pub fn documentation(&self) -> Documentation<'_> {
        let mut params = vec![None; self.params.len()];
        let mut text: Vec<&str> = Vec::new();
        for line in self.docs.lines() {
            let said = line.split_once(':').map(|(name, said)| (name.trim(), said.trim()));
            let about = said.filter(|(_, said)| !said.is_empty()).and_then(|(name, said)| {
                let index = self.params.iter().position(|param| param.name.text == name)?;
                Some((index, said))
            });
            match about {
                Some((index, said)) => params[index] = params[index].or(Some(said)),
                None => text.push(line),
            }
        }
        Documentation { text: text.join("\n").trim().to_owned(), params }
    }
}

#[derive(Debug)]
pub struct Param {
    pub name: Name,
    pub ty: Option<TypeName>,
    pub default: Option<Expr>,
    /// `name...`: takes the rest of the arguments.
    pub rest: bool,
}

impl Param {
    /// The type as it was written, or that of the default; any value where neither tells. Of a rest
    /// the type of what is given by name.
    #[must_use]
    pub fn declared_type(&self) -> Type {
        match (&self.ty, &self.default) {
            (Some(written), _) => written.ty.clone().unwrap_or(Type::Any),
            (None, Some(default)) => literal_type(default),
            (None, None) => Type::Any,
        }
    }
}

/// A type as it was written.
#[derive(Debug)]
pub struct TypeName {
    /// None where no such type exists.
    pub ty: Option<Type>,
    /// What was written, for messages.
    pub written: String,
    pub span: Span,
}

#[derive(Debug)]
pub struct Block {
    pub statements: Vec<Statement>,
    pub span: Span,
}

impl Default for Block {
    fn default() -> Self {
        Self { statements: Vec::new(), span: Span::at(0) }
    }
}

#[derive(Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

/// Most statements are short commands, of which a file has many: what is larger is in a box.
#[derive(Debug)]
pub enum StatementKind {
    Var {
        name: Name,
        value: Box<Expr>,
    },
    Assign {
        name: Name,
        op: AssignOp,
        value: Option<Box<Expr>>,
    },
    /// The last arm has no condition where it is an `else`.
    If(Vec<Branch>),
    When {
        subject: Box<Expr>,
        arms: Vec<Arm>,
    },
    For {
        names: Vec<Name>,
        over: Box<Expr>,
        body: Box<Block>,
    },
    While {
        condition: Box<Expr>,
        body: Box<Block>,
    },
    Try {
        body: Box<Block>,
        catch: Option<Box<Block>>,
        finally: Option<Box<Block>>,
    },
    Block(Box<Block>),
    Let {
        name: Name,
        source: Box<Call>,
        access: Rare<Access>,
    },
    /// A value decorator alone on its line.
    Require(Box<Reference>),
    Step(Step),
}

#[derive(Debug)]
pub struct Branch {
    pub condition: Option<Expr>,
    pub body: Block,
}

#[derive(Debug)]
pub struct Arm {
    /// Empty for `else`.
    pub patterns: Vec<Expr>,
    pub body: Block,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    Set,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Increment,
    Decrement,
}

impl StatementKind {
    /// Whether it is nothing but a command of the shell. Most statements are.
    #[must_use]
    pub fn is_command(&self) -> bool {
        matches!(self, Self::Step(Step { first, rest }) if rest.is_empty() && matches!(first.work, Work::Shell(_)))
    }

    /// Every block that is directly in a statement, decorators' blocks included.
    pub fn blocks<'u>(&'u self, visit: &mut dyn FnMut(&'u Block)) {
        match self {
            Self::If(branches) => branches.iter().for_each(|branch| visit(&branch.body)),
            Self::When { arms, .. } => arms.iter().for_each(|arm| visit(&arm.body)),
            Self::For { body, .. } | Self::While { body, .. } | Self::Block(body) => visit(body),
            Self::Try { body, catch, finally } => {
                visit(body);
                catch.iter().chain(finally).for_each(|block| visit(block));
            }
            Self::Let { source, .. } => source.block.iter().for_each(visit),
            Self::Step(Step { first, rest }) => {
                for operand in std::iter::once(first).chain(rest.iter().map(|(_, operand)| operand))
                {
                    if let Work::Call(call) = &operand.work {
                        call.block.iter().for_each(&mut *visit);
                    }
                }
            }
            Self::Var { .. } | Self::Assign { .. } | Self::Require(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_large_file_has_many_of_is_small() {
        assert!(size_of::<Statement>() <= 64, "{}", size_of::<Statement>());
        assert!(size_of::<Reference>() <= 64, "{}", size_of::<Reference>());
        assert!(size_of::<Piece>() <= 32, "{}", size_of::<Piece>());
    }
}
