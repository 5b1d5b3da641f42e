//! `var`, assignment and `let`.

use opal_core::{Code, Span};

use super::blocks::recover;
use super::{expressions, references};
use crate::kind::SyntaxKind::*;
use crate::lexer::{is_blank, is_name_start};
use crate::parser::Parser;

// test var_errors
// var
// var = 1
// var x
// var x: Int = 1
// var x == 1
// var x = 1 2
// var (
//     A 1
//     B = 2 3
//     C = 4
// )
// var ( D = 1, E = 2 )
// var (
//     F = 1
//     = 2
//     G = 3
// )
// var (
// echo good
// test var_forms
// var A = 1 + 2
// var (
//     B = "x @var.A"
//     C = [1, 2]
// )
pub(crate) fn var(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    if p.peek() == LParen {
        let open = p.span();
        p.bump();
        group(p, open);
        let _ = p.complete(marker, VarGroup);
    } else {
        binding(p);
        let _ = p.complete(marker, VarDecl);
    }
}

fn group(p: &mut Parser<'_>, open: Span) {
    loop {
        p.pass_newlines();
        match p.peek() {
            RParen => return p.bump(),
            Ident if belongs(p, open) && !expressions::statement_begins(p) => {
                let marker = p.start();
                binding(p);
                let _ = p.complete(marker, VarBinding);
                if !matches!(p.peek(), Newline | RParen | Eof | Comma) {
                    p.expected("the end of the line or `)`")
                        .help
                        .push("put each variable of a group on its own line".into());
                    recover(p);
                }
            }
            Comma => {
                p.expected("a line feed")
                    .help
                    .push("put each variable of a group on its own line".into());
                p.bump();
            }
            Eof | RBrace => return unclosed_group(p, open),
            _ if p.lexer.is_deeper(p.span().start as usize, open.start as usize) => {
                p.expected("a name or `)`")
                    .help
                    .push("write each variable of a group as `NAME = value`".into());
                recover(p);
            }
            _ => return unclosed_group(p, open),
        }
    }
}

/// Whether the name that comes next is one of the group's, and not the next statement.
fn belongs(p: &mut Parser<'_>, open: Span) -> bool {
    !p.on_new_line()
        || p.is_named_argument()
        || p.lexer.is_deeper(p.span().start as usize, open.start as usize)
}

fn unclosed_group(p: &mut Parser<'_>, open: Span) {
    let end = Span::at(p.previous().end);
    let error = p.error(Code::Syntax, end, "expected `)`, found the end of the group");
    *error = error.clone().also(open, "opened here");
    error.help.push("close the group of variables with `)`".into());
    p.step_back();
}

/// `NAME = expression`.
fn binding(p: &mut Parser<'_>) {
    if p.peek() != Ident {
        let error = p.expected("a name");
        error.help.push("write `var NAME = value`".into());
        p.recover();
        return;
    }
    p.bump();
    if p.peek() == Colon {
        let error = p.expected("`=`");
        error
            .help
            .push("a variable has the type of its value; only parameters declare a type".into());
        p.recover();
        return;
    }
    if !p.eat(Eq) {
        let error = p.expected("`=` and a value");
        error.help.push("write `var NAME = value`".into());
        p.recover();
        return;
    }
    expressions::expression(p);
}

/// ` = `, ` += ` with blanks on both sides, or `++` and `--` alone, after a name.
pub(crate) fn is_assignment(after: &[u8]) -> bool {
    if let [b'+', b'+', rest @ ..] | [b'-', b'-', rest @ ..] = after {
        let rest = match rest.iter().position(|byte| !is_blank(*byte)) {
            Some(blanks) => &rest[blanks..],
            None => &[],
        };
        return matches!(rest, [] | [b'\n' | b'#' | b'}', ..] | [b'/', b'/' | b'*', ..]);
    }
    let blanks = after.iter().take_while(|byte| is_blank(**byte)).count();
    let operator = match &after[blanks..] {
        [b'=', ..] => 1,
        [b'+' | b'-' | b'*' | b'/' | b'%', b'=', ..] => 2,
        _ => return false,
    };
    let next = after.get(blanks + operator).copied().unwrap_or(b'\n');
    blanks > 0 && (is_blank(next) || matches!(next, b'\n' | b'}'))
}

// test assignment_errors
// n =
// n += * 2
// n = 1 2
// n++ 2
// n -= 1
// n == 2
// n =3
// if x { n =}
// if x { n = }
// test assignment_forms
// var n = 1
// n = n + 1
// n += 2
// n++
// n=3
pub(crate) fn assignment(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    let steps = matches!(p.peek(), PlusPlus | MinusMinus);
    p.bump();
    if !steps {
        expressions::expression(p);
    }
    let _ = p.complete(marker, Assign);
}

// test let_errors
// let.x
// let.x = 1
// let.x = git rev-parse HEAD
// let.x =
// let.x == @shell("a")
// let.x = @shell("a") && echo b
// let x = 1
// let y=1+2
// let.z =  1
// echo good
// test let_forms
// let.head = @shell("git rev-parse HEAD")
// let.id = @shell("make id").stdout
// echo @let.head @let.id
pub(crate) fn r#let(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    let start = p.span();
    p.bump();
    p.peek();
    p.bump();
    p.peek();
    let name = p.token_text().to_owned();
    p.bump();
    if !p.eat(Eq) {
        p.expected("`=` and a decorator").help.push(format!(
            "bind it with `let.{name} = @shell(\"…\")`, and read it with `@let.{name}`"
        ));
        p.recover();
    } else if p.peek() == RefPath {
        let _ = references::call(p, true);
    } else {
        bad_source(p, start, &name);
    }
    let _ = p.complete(marker, Let);
}

fn bad_source(p: &mut Parser<'_>, start: Span, name: &str) {
    let literal = matches!(
        p.peek(),
        Int | Float | Duration | StringOpen | RawString | LBracket | LBrace | Minus
    );
    p.settle();
    let rest = p.lexer.rest();
    let line = rest.lines().next().unwrap_or(rest).trim_ascii_end();
    let at = (p.lexer.pos() + line.len()) as u32;
    let line = line.trim_ascii_start();
    let at = at - line.len() as u32;
    let span = if line.is_empty() { start } else { Span::new(at, at + line.len() as u32) };
    let command = line.replace('\\', "\\\\").replace('"', "\\\"");
    p.error(Code::BadLetSource, span, "`let` captures the result of a decorator").help.push(
        if literal || line.is_empty() {
            format!("for a value that is known before anything runs, write `var {name} = …`")
        } else {
            format!(
                "to capture the output of a command, write `let.{name} = @shell(\"{command}\")`"
            )
        },
    );
    p.recover();
}

/// ` NAME = …` after `let`: neither the shell's `let` nor opal's.
pub(crate) fn looks_like_let(after: &[u8]) -> bool {
    let blanks = after.iter().take_while(|byte| is_blank(**byte)).count();
    let name = &after[blanks..];
    let length = name.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    name.first().is_some_and(|byte| is_name_start(*byte)) && is_assignment(&name[length..])
}

pub(crate) fn bare_let(p: &mut Parser<'_>) {
    p.peek();
    let span = p.span();
    let line = p.lexer.rest();
    let name: String = line
        .trim_start_matches([' ', '\t'])
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let error = p.error(Code::BadLetSource, span, "`let` requires a dot and a name: `let.NAME`");
    error.help.push(format!("for a value known before anything runs, write `var {name} = …`"));
    error.help.push(format!(
        "for the result of a decorator at run time, write `let.{name} = @shell(\"…\")`"
    ));
    p.recover();
}
