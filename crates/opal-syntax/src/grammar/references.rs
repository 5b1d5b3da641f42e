//! References, their arguments, fields and indices.

use opal_core::Code;

use super::{expressions, steps};
use crate::kind::SyntaxKind::*;
use crate::parser::{Completed, Parser};

/// A reference in an expression.
pub(crate) fn reference(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    path_and_access(p);
    p.complete(marker, Ref)
}

/// A reference in shell text, the `index`-th of its step.
pub(crate) fn in_text(p: &mut Parser<'_>, index: usize) {
    let context = p.lexer.contexts.get(index).map_or(0, |context| context.bits());
    let marker = p.start();
    path_and_access(p);
    p.complete_with(marker, TextRef, context);
}

fn path_and_access(p: &mut Parser<'_>) {
    p.bump();
    if p.is_adjacent(LParen) {
        arguments(p);
    }
    accesses(p);
}

/// A decorator call; `access` where fields of its result may follow.
pub(crate) fn call(p: &mut Parser<'_>, access: bool) -> Completed {
    let marker = p.start();
    p.peek();
    p.bump();
    if p.is_adjacent(LParen) {
        arguments(p);
    }
    if access {
        accesses(p);
    }
    steps::decorator_block(p);
    p.complete(marker, Call)
}

/// `( … )`: positional arguments, then named ones.
pub(crate) fn arguments(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    if !expressions::enter(p) {
        let _ = p.complete(marker, ArgList);
        return;
    }
    let mut named = false;
    while !matches!(p.peek(), RParen | Eof) {
        argument(p, &mut named);
        if !expressions::separator(p, RParen) {
            break;
        }
    }
    expressions::leave(p);
    if !p.eat(RParen) {
        expressions::unclosed(p, "`)`");
    }
    let _ = p.complete(marker, ArgList);
}

fn argument(p: &mut Parser<'_>, named: &mut bool) {
    let marker = p.start();
    let start = p.span();
    if p.peek() == Ident && p.is_named_argument() {
        *named = true;
        p.bump();
        p.peek();
        p.bump();
        expressions::expression(p);
    } else {
        expressions::expression(p);
        if *named {
            let span = start.to(p.previous());
            p.error(Code::PositionalAfterNamed, span, "a positional argument follows a named one")
                .help
                .push("put it before the named arguments, or name it too".into());
        }
    }
    let _ = p.complete(marker, Arg);
}

/// `.name`, `.0`, `.*`, `[…]`, each directly behind what it reads from.
pub(crate) fn accesses(p: &mut Parser<'_>) {
    loop {
        if p.is_adjacent(DotStar) {
            let marker = p.start();
            p.bump();
            let _ = p.complete(marker, Field);
        } else if p.is_adjacent(Dot) {
            field(p);
        } else if p.is_adjacent(LBracket) {
            index(p);
        } else {
            return;
        }
    }
}

fn field(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    match p.peek() {
        Ident | Int => p.bump(),
        _ => {
            p.expected("a field or an index behind `.`")
                .help
                .push("an index can also be written `[0]`, a key `[\"k\"]`".into());
        }
    }
    let _ = p.complete(marker, Field);
}

fn index(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    if expressions::enter(p) {
        expressions::expression(p);
        expressions::leave(p);
        if !p.eat(RBracket) {
            expressions::unclosed(p, "`]`");
        }
    }
    let _ = p.complete(marker, Index);
}
