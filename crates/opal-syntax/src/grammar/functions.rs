//! `fun`, its parameters and types, and the label form.

use opal_core::{Code, Span};

use super::statements::{self, Level};
use super::{expressions, steps};
use crate::kind::SyntaxKind::*;
use crate::lexer::{is_blank, is_name_start};
use crate::parser::Parser;

// test fun_with_block
// fun deploy(env: String, replicas = 3, tags...) {
//     echo @var.env
// }
// test fun_with_step
// fun build() = cargo build --release
// test fun_types
// fun f(a: Array[String], mode: "fast" | "safe" = "safe",) = echo x
pub(crate) fn fun(p: &mut Parser<'_>, level: Level) {
    let marker = p.start();
    p.peek();
    let keyword = p.span();
    p.bump();
    if level == Level::Block {
        p.error(Code::NestedFunction, keyword, "a function stands at top level only")
            .help
            .push("move it out of the block; if the block should end before it, add a `}`".into());
    }
    let named = function_name(p);
    if p.peek() == LParen {
        parameters(p);
    } else if named {
        let at = Span::at(p.previous().end);
        let error = p.expected("`(`");
        error.help.push("a function has a parameter list, also an empty one".into());
        *error = error.clone().fix("add an empty parameter list", at, "()");
    } else {
        p.recover();
    }
    body(p);
    let _ = p.complete(marker, Fun);
}

fn function_name(p: &mut Parser<'_>) -> bool {
    p.settle();
    p.lexer.blanks();
    p.pass_tokens();
    if !is_name_start(p.lexer.byte(0)) {
        p.expected("a name for the function").help.push("write `fun NAME() { … }`".into());
        return false;
    }
    p.lexer.function_name();
    let span = p.span();
    if p.lexer.slice(span).contains('.') {
        p.error(Code::DottedFunction, span, "only functions of a plugin have a `.` in their name")
            .help
            .push("use `-` or `_`".into());
    }
    p.bump();
    true
}

/// `= step` or `{ … }`.
fn body(p: &mut Parser<'_>) {
    match p.peek() {
        Eq => {
            p.bump();
            if p.at_line_end() {
                p.expected("a step after `=`")
                    .help
                    .push("several steps stand in a block: `fun NAME() { … }`".into());
                return;
            }
            p.lexer.blanks();
            p.pass_tokens();
            if p.lexer.byte(0) == b'@' {
                steps::decorator_statement(p);
            } else {
                steps::shell_step(p);
            }
        }
        Arrow | Colon => {
            p.expected("`=` or `{`").help.push("a function has no result type".into());
            p.recover();
            if p.byte_ahead() == b'{' {
                statements::block(p);
            }
        }
        _ => {
            statements::block(p);
            statements::after_block(p, Code::ConstructAsOperand);
        }
    }
}

pub(crate) fn parameters(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    p.brackets += 1;
    loop {
        match p.peek() {
            RParen | Eof => break,
            Ident => parameter(p),
            _ => {
                p.expected("a parameter or `)`");
                if !expressions::skip_to_comma(p) {
                    break;
                }
            }
        }
        if !p.eat(Comma) && p.peek() != RParen {
            p.expected("`,` or `)`");
            if !expressions::skip_to_comma(p) {
                break;
            }
            p.eat(Comma);
        }
    }
    p.brackets -= 1;
    if !p.eat(RParen) {
        p.recover();
    }
    let _ = p.complete(marker, ParamList);
}

fn parameter(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    if p.peek() == Ellipsis {
        p.bump();
    }
    if p.eat(Colon) {
        type_expression(p);
    }
    if p.eat(Eq) {
        expressions::expression(p);
    }
    let _ = p.complete(marker, Param);
}

fn type_expression(p: &mut Parser<'_>) {
    let marker = p.start();
    match p.peek() {
        Ident => {
            p.bump();
            if p.eat(LBracket) {
                type_expression(p);
                if !p.eat(RBracket) {
                    p.expected("`]`");
                }
            }
        }
        StringOpen | RawString => loop {
            if matches!(p.peek(), StringOpen | RawString) {
                expressions::atom(p);
            } else {
                p.expected("a string of the closed set");
                break;
            }
            if !p.eat(Pipe) {
                break;
            }
        },
        _ => {
            p.expected("a type").help.push(
                "types are String, Int, Float, Bool, Duration, Array, Map, or \"a\" | \"b\"".into(),
            );
        }
    }
    let _ = p.complete(marker, TypeExpr);
}

/// Whether `NAME:` and a blank or `{` stand here.
pub(crate) fn is_label(rest: &[u8]) -> bool {
    let name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = rest.iter().take_while(|byte| name(**byte)).count();
    rest.get(length) == Some(&b':')
        && rest.get(length + 1).is_none_or(|next| is_blank(*next) || matches!(next, b'\n' | b'{'))
}

// test label_forms
// build: cargo build
// check-all: {
//     cargo test
// }
pub(crate) fn label(p: &mut Parser<'_>) {
    let marker = p.start();
    p.lexer.function_name();
    let span = p.span();
    let name = p.lexer.slice(span).to_owned();
    p.bump();
    p.peek();
    p.bump();
    if p.at_line_end() {
        p.error(
            Code::LabelWithoutBody,
            span,
            format!("the label `{name}` has no body on its line"),
        )
        .help
        .push(format!("write `fun {name}() {{ … }}`, or `{name}: command` on one line"));
    } else if p.byte_ahead() == b'{' {
        statements::block(p);
        statements::after_block(p, Code::ConstructAsOperand);
    } else {
        p.lexer.blanks();
        p.pass_tokens();
        if p.lexer.byte(0) == b'@' {
            steps::decorator_statement(p);
        } else {
            steps::shell_step(p);
        }
    }
    let _ = p.complete(marker, Label);
}
