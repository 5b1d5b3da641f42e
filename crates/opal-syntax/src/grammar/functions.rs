//! `fun`, its parameters and types, and the label form.

use opal_core::{Code, Span};

use super::blocks::{after_block, block};
use super::brackets::{elements, enter, leave, skip_to_comma};
use super::{bindings, expressions, foreign, steps};
use crate::kind::SyntaxKind::*;
use crate::lexer::{is_blank, is_name_byte, is_name_start};
use crate::parser::{Level, Parser};

// test fun_without_parameters
// fun build { cargo build }
// fun up = docker compose up
// fun down
// fun good() = echo good
// test fun_heads
// fun () { echo b }
// fun 1() { echo c }
// fun d.e() { echo d }
// fun f() -> Int { echo f }
// fun g() =
// fun h()
// fun i() { echo a } && echo b
// fun j() echo j
// fun
// if x {
//     fun k() { echo k }
// }
// fun l() = echo good
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
        p.error(Code::NestedFunction, keyword, "functions are allowed only at the top level")
            .help
            .push("move it out of the block; if the block should end before it, add a `}`".into());
    }
    let named = function_name(p);
    if p.peek() == LParen {
        parameters(p);
    } else if named {
        // An empty list may be left out.
        if !matches!(p.peek(), LBrace | Eq) {
            let error = p.expected("`(`, `{` or `=`");
            error.help.push("write `fun NAME(PARAMETERS) { … }`".into());
        }
    } else {
        p.recover_head();
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
    if p.lexer.slice(span).contains('.') && !p.lexer.has_dotted_functions() {
        p.error(Code::DottedFunction, span, "a `.` in a function name is reserved for plugins")
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
            let arrow = p.previous().end;
            if p.lexer.text[arrow as usize..].starts_with('>') {
                let span = Span::new(arrow - 1, arrow + 1);
                let error =
                    p.error(Code::Syntax, span, "the step of a function follows a plain `=`");
                *error = error.clone().fix("write `=`", span, "=");
                error.help.push("write `fun NAME() = step`, or `fun NAME() { … }`".into());
                p.recover();
                return;
            }
            if p.at_line_end() {
                p.expected("a step after `=`")
                    .help
                    .push("put several steps in a block: `fun NAME() { … }`".into());
                return;
            }
            body_step(p);
        }
        Arrow | Colon => {
            p.expected("`=` or `{`").help.push("a function has no result type".into());
            p.recover_head();
            if p.byte_ahead() == b'{' {
                block(p);
            }
        }
        _ => {
            block(p);
            after_block(p, Code::ConstructAsOperand);
        }
    }
}

// test parameters
// fun a(x, y: Int, z = 1, w: Array[Map] = [], rest...) = echo a
// fun b(
//     x: String,
//     y = 2
// ) = echo b
// fun c(x y) = echo c
// fun d(1) = echo d
// fun e(x { echo e }
// fun f(x
// fun g(x:) = echo g
// fun h(x: Array[String) = echo h
// fun i(x: "a" | b) = echo i
// fun j(x =) = echo j
// fun k( = echo k
// fun l() = echo good
pub(crate) fn parameters(p: &mut Parser<'_>) {
    let marker = p.start();
    let open = p.span();
    let outer = std::mem::replace(&mut p.head, true);
    p.bump();
    elements(p, open, RParen, parameter);
    p.head = outer;
    let _ = p.complete(marker, ParamList);
}

fn parameter(p: &mut Parser<'_>) {
    if p.peek() != Ident {
        p.expected("a parameter or `)`")
            .help
            .push("write a parameter as `name`, `name: Type` or `name = default`".into());
        skip_to_comma(p);
        return;
    }
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
            if p.peek() == LBracket {
                let open = p.span();
                p.bump();
                if enter(p) {
                    type_expression(p);
                    leave(p);
                    if !p.eat(RBracket) {
                        let error = p.expected("`]`");
                        *error = error.clone().also(open, "opened here");
                        error.help.push("write a list of strings as `Array[String]`".into());
                    }
                }
            }
        }
        StringOpen | RawString => loop {
            if matches!(p.peek(), StringOpen | RawString) {
                expressions::atom(p);
            } else {
                p.expected("a string of the closed set")
                    .help
                    .push("write a closed set as `\"a\" | \"b\"`".into());
                break;
            }
            if !p.eat(Pipe) {
                break;
            }
        },
        _ => {
            p.expected("a type").help.push(
                "the types are String, Int, Float, Bool, Duration, Array, Map, and \"a\" | \"b\""
                    .into(),
            );
        }
    }
    let _ = p.complete(marker, TypeExpr);
}

/// Whether `NAME:` and a blank or `{` are here.
pub(crate) fn is_label(rest: &[u8]) -> bool {
    let name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = rest.iter().take_while(|byte| name(**byte)).count();
    rest.get(length) == Some(&b':')
        && rest.get(length + 1).is_none_or(|next| is_blank(*next) || matches!(next, b'\n' | b'{'))
}

// test label_without_body
// build:
// test: # nothing
// good: echo a
// test label_with_an_indented_line
// build: gcc
//     ./run
// good: echo a
//
// more: echo a \
//     b
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
        block(p);
        after_block(p, Code::ConstructAsOperand);
    } else {
        body_step(p);
        say_indented_line(p, span, &name);
    }
    let _ = p.complete(marker, Label);
}

/// Below a rule, Make has indented commands; at top level nothing of ours is indented.
fn say_indented_line(p: &mut Parser<'_>, label: Span, name: &str) {
    if !p.at_line_end() {
        return;
    }
    let body = &p.lexer.text[label.end as usize..p.lexer.pos()];
    let below = p.lexer.rest().split_once('\n').map_or("", |(_, below)| below);
    let indented = below.starts_with([' ', '\t'])
        && below.lines().next().map(str::trim_ascii).is_some_and(is_code);
    if indented && !body.contains('\n') {
        let message =
            format!("the label `{name}` ends with its line, but an indented line follows");
        p.error(Code::LabelWithoutBody, label, message)
            .help
            .push(format!("write `fun {name}() {{ … }}`"));
    }
}

/// Whether a line without its indentation is neither blank nor a comment.
fn is_code(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("//") && !line.starts_with("/*")
}

/// The one step after `=` or a label's `:`.
// test body_is_a_step
// fun a() = if x { echo a }
// b: for x in xs { echo a }
// fun c() = { echo a }
// fun d() = x = 1
// fun e() = var x = 1
// fun f() = cargo build
// g: @cmd.f()
fn body_step(p: &mut Parser<'_>) {
    p.lexer.blanks();
    p.pass_tokens();
    let rest = p.lexer.rest().as_bytes();
    let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
    let (word, after) = rest.split_at(length);
    let next = after.first().copied().unwrap_or(b'\n');
    let keyword = matches!(word, b"if" | b"for" | b"while" | b"when" | b"try" | b"var" | b"fun")
        && (is_blank(next) || matches!(next, b'(' | b'{'));
    let assigned = is_name_start(rest[0]) && bindings::is_assignment(after);
    match rest[0] {
        b'@' => steps::decorator_statement(p),
        _ if keyword || assigned || rest[0] == b'{' => {
            let shell = foreign::is_shell_spelling(word, after);
            if !shell {
                say_no_step(p);
            }
            p.statement(Level::Block);
        }
        _ => steps::shell_step(p),
    }
}

fn say_no_step(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    let line = p.lexer.rest().lines().next().unwrap_or_default();
    let word = line.split([' ', '\t', '(']).next().unwrap_or(line);
    let span = Span::new(start, start + word.len().max(1) as u32);
    let message = format!("expected a step, found `{}`", p.lexer.slice(span));
    p.error(Code::Syntax, span, message)
        .help
        .push("put anything but a single step in a block: `fun NAME() { … }`".into());
}
