//! What the checks resolve, reported to whoever asks: an editor keeps it.
//!
//! The checks are the only place that resolves names, so what an editor says about one is what a run
//! does with it. A run observes nothing: its observer is `()`, of which the compiler leaves nothing.

use opal_core::decorator::Descriptor;
use opal_core::{Span, Type};

use crate::unit::Builtin;

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefinitionKind {
    Variable,
    Parameter,
    /// The variable of a loop.
    Loop,
    /// Known only at run time.
    Let,
    Function,
    /// What an import calls its functions with.
    Namespace,
}

/// A name that is defined.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'d> {
    pub kind: DefinitionKind,
    pub name: &'d str,
    /// Of the name itself. It identifies the definition.
    pub span: Span,
    pub ty: &'d Type,
}

/// A name that means a definition.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Of the name itself, without what comes before it.
    pub span: Span,
    /// Where the name is defined.
    pub definition: Span,
    /// It is assigned to.
    pub writes: bool,
}

/// What is called.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    Decorator(&'static Descriptor),
    /// The function of this index.
    Function(usize),
    Builtin(Builtin),
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Of the whole call.
    pub call: Span,
    pub callee: Callee,
    /// The parameter that it is for; none of what a decorator takes beside them.
    pub param: Option<usize>,
    pub name: Option<Span>,
    pub span: Span,
}

/// Hears what is resolved, in the order of the checks. The same may be heard twice.
pub trait Observer {
    /// A scope begins: a file, a function or a block.
    fn enter(&mut self, _span: Span) {}

    /// The innermost scope ends.
    fn leave(&mut self) {}

    /// A name is defined in the innermost scope.
    fn define(&mut self, _definition: Definition<'_>) {}

    /// A name is resolved.
    fn refer(&mut self, _found: Use) {}

    /// The path of a decorator or the name of a function in an expression is resolved.
    fn called(&mut self, _path: Span, _callee: Callee) {}

    /// An argument is bound to its parameter.
    fn given(&mut self, _argument: Given) {}

    /// The type of a reference, up to a field or an index of it, is known.
    fn typed(&mut self, _span: Span, _ty: &Type) {}
}

impl Observer for () {}

impl Use {
    /// The name that ends a path: `NAME` of `@var.NAME`.
    pub(super) fn last(path: Span, name: &str, definition: Span) -> Self {
        let start = path.end.saturating_sub(name.len() as u32).max(path.start);
        Self { span: Span::new(start, path.end), definition, writes: false }
    }
}
