//! Functions: their documentation, their parameters and types.

use opal_core::types::{Choices, TypeRef};
use opal_core::{Type, Value};
use opal_syntax::SyntaxKind::{self, *};

use super::{Child, Lower};
use crate::unit::{Block, Expr, ExprKind, Function, Import, Name, Param, TypeName};

impl Lower<'_> {
    /// The function whose node has just begun.
    pub(super) fn function(&mut self, kind: SyntaxKind) -> Option<Function> {
        let (mut name, mut params, mut body) = (None, Vec::new(), Block::default());
        let mut docs = String::new();
        let start = self.start();
        let mut keyword = kind == Fun;
        let mut signature = None;
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
                    signature = Some(self.since(start));
                    self.cursor.jump(here);
                    if self.has_bodies {
                        body = self.function_body();
                    } else {
                        self.cursor.skip_node();
                    }
                }
            }
        }
        let name: Name = name?;
        let span = signature.unwrap_or_else(|| self.since(start));
        let group = self.group.clone();
        Some(Function { name, docs, group, params, body, label: kind == Label, span })
    }

    /// The imports of the source.
    pub(super) fn imports(&mut self) -> Vec<Import> {
        self.next();
        let mut imports = Vec::new();
        while let Some(Child::Node { kind: SyntaxKind::Import, .. }) = self.child() {
            imports.push(self.import());
        }
        imports
    }

    /// The signature of the first function whose name is `wanted`; the others are passed over.
    pub(super) fn find(&mut self, wanted: &dyn Fn(&str) -> bool) -> Option<Function> {
        self.next();
        loop {
            let here = self.cursor.mark();
            match self.child()? {
                Child::Node { kind: kind @ (Fun | Label), .. } => {
                    if self.passed_name(kind).is_some_and(wanted) {
                        self.cursor.jump(here);
                        self.next();
                        return self.function(kind);
                    }
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
    }

    /// The name of the function whose node has just begun, and the cursor after the node.
    fn passed_name(&mut self, kind: SyntaxKind) -> Option<&str> {
        // The word `fun` is a name to the lexer.
        let mut before = usize::from(kind == Fun);
        let mut name = None;
        loop {
            let here = self.cursor.mark();
            match self.child() {
                None => break,
                Some(Child::Token { kind: Ident, span, .. }) if name.is_none() => match before {
                    0 => name = Some(span),
                    _ => before -= 1,
                },
                Some(Child::Token { .. }) => {}
                Some(Child::Node { .. }) => {
                    self.cursor.jump(here);
                    self.cursor.skip_node();
                }
            }
        }
        name.map(|span| self.slice(span))
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
}

fn closed_set(choices: &[Expr]) -> Type {
    let names = choices.iter().filter_map(|choice| match &choice.kind {
        ExprKind::Literal(Value::String(text)) => Some(text.clone().into_owned()),
        _ => None,
    });
    Type::OneOf(Choices::Shared(names.collect()))
}
