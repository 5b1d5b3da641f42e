//! References, their arguments, fields and indices.

use opal_core::Code;

use super::brackets::{close, elements, enter, leave};
use super::{expressions, steps, text_blocks};
use crate::kind::SyntaxKind::*;
use crate::lexer::At;
use crate::parser::{Completed, Parser};

// test references
// var a = @var.b.c[0]["k"].*
// var b = @env.HOME(default="x")
// var c = @nope.really
// var d = @
// var e = @var.x.
// var f = @env. AME
// var g = 2.	0
// echo @var.a.b[0] @file.read("x y").length @var.a()_b @var.a.
// echo @var.s.path()_check @var.l[0]()x @var.s.path(x)
// var h = @var.s.path() + "x"
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
    if p.adjacent() == LParen {
        arguments(p);
    }
    accesses(p);
    // `@var.s.path()_check`: the brackets end the path, and give nothing.
    if p.adjacent() == LParen && p.lexer.text[p.span().end as usize..].starts_with(')') {
        let marker = p.start();
        p.bump();
        p.adjacent();
        p.bump();
        let _ = p.complete(marker, ArgList);
    }
}

/// What the block of a decorator is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    Steps,
    Text,
    /// Nothing provides the path, so nobody knows.
    Unknown,
}

impl Body {
    fn of(p: &Parser<'_>, at: usize) -> Self {
        match p.lexer.at(at, false) {
            At::Path { kind: Some(kind), .. } if kind.text => Self::Text,
            At::Path { kind: Some(_), .. } | At::Literal => Self::Steps,
            At::Path { kind: None, .. } | At::Word { .. } => Self::Unknown,
        }
    }
}

/// A decorator call; `access` where fields of its result may follow.
pub(crate) fn call(p: &mut Parser<'_>, access: bool) -> Completed {
    let marker = p.start();
    p.peek();
    let at = p.span().start as usize;
    let body = Body::of(p, at);
    p.bump();
    if p.adjacent() == LParen {
        arguments(p);
    }
    if access {
        accesses(p);
    }
    match body {
        Body::Steps => steps::decorator_block(p),
        Body::Text | Body::Unknown => text_blocks::text_block(p, at, body == Body::Unknown),
    }
    p.complete(marker, Call)
}

// test arguments
// @retry(3, delay=2s,) { echo a }
// @retry(
//     3,
//     delay = 2s
// ) {
//     echo a
// }
// @retry(delay=2s, 3) { echo a }
// @retry(3 4) { echo a }
// @retry(3 {
//     echo a
// }
// @retry(3
// @retry(x == 1) { echo a }
// @cmd.build("a" "b")
// echo good
/// `( … )`: positional arguments, then named ones.
pub(crate) fn arguments(p: &mut Parser<'_>) {
    let marker = p.start();
    let open = p.span();
    p.bump();
    let mut named = false;
    elements(p, open, RParen, |p| argument(p, &mut named));
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

/// `.name`, `.0`, `.*`, `[…]`, each directly after what it reads from.
pub(crate) fn accesses(p: &mut Parser<'_>) {
    loop {
        match p.adjacent() {
            DotStar => {
                let marker = p.start();
                p.bump();
                let _ = p.complete(marker, Field);
            }
            Dot => field(p),
            LBracket => index(p),
            _ => return,
        }
    }
}

fn field(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    match p.adjacent() {
        Ident | Int => p.bump(),
        Blank => {
            p.expected("a field or an index directly after `.`")
                .help
                .push("delete the blanks after the `.`".into());
        }
        _ => {
            p.expected("a field or an index after `.`")
                .help
                .push("an index can also be written `[0]`, a key `[\"k\"]`".into());
        }
    }
    let _ = p.complete(marker, Field);
}

fn index(p: &mut Parser<'_>) {
    let marker = p.start();
    let open = p.span();
    p.bump();
    if enter(p) {
        expressions::expression(p);
        leave(p);
        close(p, open, RBracket);
    }
    let _ = p.complete(marker, Index);
}
