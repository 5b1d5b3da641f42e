//! `when`: arms, their patterns and bodies.

use opal_core::Code;

use super::blocks::{after_block, at_top_level_function, braces, end_of_statement, recover};
use super::control::head;
use super::expressions;
use crate::kind::SyntaxKind::*;
use crate::parser::{Level, Parser};

// test when_heads
// when x
// when x y { 1 -> echo a }
// when { 1 -> echo a }
// when x { 1 -> echo a
// fun f() = echo good
// test when_arms
// when @var.ENV {
//     "prod" | "live" -> echo careful
//     r"^dev-" -> { echo relaxed }
//     1...5 -> @cmd.few()
//     else -> echo other
// }
pub(crate) fn when(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    head(p);
    if p.peek() != LBrace {
        p.expected("`{`").help.push("put the arms of a `when` in `{ … }`".into());
        p.recover_head();
    }
    if p.peek() != LBrace {
        let _ = p.complete(marker, When);
        return;
    }
    braces(p, "`when`", arms);
    let _ = p.complete(marker, When);
    after_block(p, Code::ConstructAsOperand);
}

fn arms(p: &mut Parser<'_>) {
    loop {
        p.settle();
        p.lexer.between_statements();
        p.pass_tokens();
        if at_top_level_function(p) || matches!(p.peek(), RBrace | Eof) {
            return;
        }
        let marker = p.start();
        if patterns(p) {
            arm_body(p);
        } else {
            recover(p);
        }
        end_of_statement(p);
        let _ = p.complete(marker, Arm);
    }
}

// test when_arm_bodies
// when x {
//     1 ->
//     2 -> { echo a } > file
//     3 -> var y = 1
//     4 -> if y { echo b }
//     4 -> /* a */ echo good
//     5 -> }
// echo good
fn arm_body(p: &mut Parser<'_>) {
    p.settle();
    p.lexer.before_statement();
    p.pass_tokens();
    if p.at_line_end() || p.byte_ahead() == b'}' {
        p.expected("a step or a block after `->`")
            .help
            .push("begin it on the line of its `->`; to do nothing, write `-> { }`".into());
        p.settle();
        let below = p.lexer.peek_past_trivia();
        let line = &below[..memchr::memchr(b'\n', below).unwrap_or(below.len())];
        let arm = memchr::memmem::find(line, b"->").is_some() || line.starts_with(b"}");
        if !arm && !line.is_empty() {
            p.lexer.between_statements();
            p.pass_tokens();
            p.statement(Level::Block);
        }
    } else {
        p.statement(Level::Block);
    }
}

// test when_without_arrow
// when x {
//     "a" echo a
//     "b": echo b
//     "c" => echo c
//     d) echo d ;;
//     "e" {
//         echo e
//     }
//     "f" | -> echo f
//     "g" -> echo good
// }
/// `pattern | pattern ->`; false where the line is to be passed over.
fn patterns(p: &mut Parser<'_>) -> bool {
    loop {
        pattern(p);
        if p.eat(Pipe) {
            p.pass_newlines();
            continue;
        }
        if p.eat(Arrow) {
            return true;
        }
        let wrong = match p.peek() {
            Colon | Eq | RParen => true,
            _ => p.token_text() == "=>",
        };
        let error = p.expected("`->`");
        error.help.push(if wrong {
            "write an arm as `pattern -> step`".into()
        } else {
            "patterns are literals, joined with `|` and followed by `->`".into()
        });
        return false;
    }
}

// test when_patterns
// when x {
//     true -> echo a
//     null | -1 | 1.5 | 2s -> echo b
//     'raw' |
//         "next" -> echo c
//     _ -> echo d
//     default -> echo e
//     name -> echo f
//     * -> echo g
//     [1] -> echo h
//     1..3 -> echo i
// }
fn pattern(p: &mut Parser<'_>) {
    let outer = std::mem::replace(&mut p.head, true);
    match p.peek() {
        Ident if !matches!(p.token_text(), "true" | "false" | "null" | "else") => {
            let (span, word) = (p.span(), p.token_text().to_owned());
            let catch_all = matches!(word.as_str(), "_" | "default" | "otherwise");
            let error = p.error(
                Code::Syntax,
                span,
                format!("`{word}` is a name; the patterns of a `when` are literals"),
            );
            if catch_all {
                *error = error.clone().fix("write `else`", span, "else");
                error.help.push("to match everything else, write `else ->`".into());
            } else {
                *error = error.clone().fix("quote it", span, format!("\"{word}\""));
                error.help.push(format!("for the text, write `\"{word}\"`"));
            }
            p.bump();
        }
        Star => {
            p.expected("a pattern").help.push("to match everything else, write `else ->`".into());
            p.bump();
        }
        Ident | Int | Float | Duration | StringOpen | RawString | Regex | Minus | RefPath
        | LParen => expressions::pattern(p),
        _ => {
            p.expected("a pattern").help.push(
                "patterns are strings, numbers, true, false, null, ranges, r\"…\" and `else`"
                    .into(),
            );
        }
    }
    p.head = outer;
}
