//! `if`, `for`, `while`, `try`.

use opal_core::{Code, Span};

use super::blocks::{after_block, block};
use super::expressions;
use crate::kind::SyntaxKind::*;
use crate::lexer::is_name_byte;
use crate::parser::Parser;

/// An expression in the head of a construct, where `{` opens the block.
pub(super) fn head(p: &mut Parser<'_>) {
    let outer = std::mem::replace(&mut p.head, true);
    expressions::expression(p);
    p.head = outer;
}

// test if_heads
// if { echo a }
// if == 1 { echo a }
// if {a: 1} == x { echo a }
// if ({a: 1}) == x { echo a }
// if x == 1 &&
//     y == 2 { echo good }
// if(x) { echo good }
// if x == "a { echo b }
// if f(x { echo a }
// if
// test if_else
// if @var.A == 1 { echo one } else if A > 2 {
//     echo more
// }
// else { echo none }
pub(crate) fn r#if(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    head(p);
    block(p);
    clauses(p);
    let _ = p.complete(marker, If);
    after_block(p, Code::ConstructAsOperand);
}

// test else_forms
// if a { echo a } elif b { echo b } else { echo c }
// if a { echo a }
// // between
// else if b { echo b }
// if a { echo a } else b { echo b }
// if a { echo a } else
// {
//     echo b
// }
/// Every `else if` and `else` that follows, also on the next line.
pub(crate) fn clauses(p: &mut Parser<'_>) {
    while let Some(word) = clause_word(p, &["else", "elif", "elsif", "elseif"]) {
        let marker = p.start();
        p.lexer.between_statements();
        p.pass_tokens();
        p.peek();
        let span = p.span();
        p.bump();
        let condition = word != "else" || p.at_word("if");
        if word != "else" {
            let error = p.error(Code::Syntax, span, format!("unknown keyword `{word}`"));
            *error = error.clone().fix("write `else if`", span, "else if");
            error.help.push("write `else if CONDITION { … }`".into());
            head(p);
        } else if condition {
            p.bump();
            head(p);
        }
        block(p);
        let _ = p.complete(marker, ElseClause);
        if !condition {
            return;
        }
    }
}

/// The word after blanks, line feeds and comments, if it is one of `words`.
fn clause_word(p: &mut Parser<'_>, words: &[&'static str]) -> Option<&'static str> {
    p.settle();
    let rest = p.lexer.peek_past_trivia();
    let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
    let next = rest.get(length).copied().unwrap_or(b'\n');
    let ends = next.is_ascii_whitespace() || next == b'{' || next == b'(';
    words.iter().copied().find(|word| word.as_bytes() == &rest[..length] && ends)
}

// test for_heads
// for f in a b { echo }
// for f in a, b { echo }
// for in xs { echo }
// for x, in xs { echo }
// for in in [1] { echo }
// for x, in in xs { echo }
// for x of xs { echo }
// for x in { echo }
// for x {
//     echo a
// }
// echo good
// test for_forms
// for x in [1, 2] { echo @var.x }
// for k, v in ({a: 1}) {
//     echo @var.k
// }
pub(crate) fn r#for(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    if loop_variables(p) {
        head(p);
        if matches!(p.peek(), Ident | Int | StringOpen | Comma) {
            p.expected("`{`").help.push("write a list as `[\"a\", \"b\"]`".into());
            p.recover_head();
        }
    } else {
        p.recover_head();
    }
    block(p);
    let _ = p.complete(marker, For);
    after_block(p, Code::ConstructAsOperand);
}

fn loop_variables(p: &mut Parser<'_>) -> bool {
    if p.at_word("in") || !p.eat(Ident) {
        p.expected("a name").help.push("write a loop as `for NAME in LIST { … }`".into());
        return false;
    }
    if p.eat(Comma) && (p.at_word("in") || !p.eat(Ident)) {
        p.expected("a second name").help.push("over a map: `for KEY, VALUE in MAP { … }`".into());
        return false;
    }
    if !p.at_word("in") {
        p.expected("`in`").help.push("write a loop as `for NAME in LIST { … }`".into());
        return false;
    }
    p.bump();
    true
}

// test while_loop
// var n = 0
// while n < 3 { n++ }
pub(crate) fn r#while(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    p.bump();
    head(p);
    block(p);
    let _ = p.complete(marker, While);
    after_block(p, Code::ConstructAsOperand);
}

// test try_clauses
// try { echo a }
// try { echo a } catch e { echo b }
// try { echo a } catch (e) {
//     echo b
// }
// try { echo a }
// catch { echo b }
// finally { echo c }
// try echo a
// try { echo a } finally { echo b } && echo c
// test try_catch
// try { false } catch {
//     echo failed
// } finally { echo done }
pub(crate) fn r#try(p: &mut Parser<'_>) {
    let marker = p.start();
    p.peek();
    let keyword = p.span();
    p.bump();
    // Without its block, the rest says nothing.
    let mut clauses = u32::from(p.peek() != LBrace);
    block(p);
    for (word, kind) in [("catch", CatchClause), ("finally", FinallyClause)] {
        if clause_word(p, &[word]).is_none() {
            continue;
        }
        clauses += 1;
        let clause = p.start();
        p.lexer.between_statements();
        p.pass_tokens();
        p.peek();
        p.bump();
        if word == "catch" && matches!(p.peek(), Ident | LParen) {
            p.expected("`{`")
                .help
                .push("`catch` takes no name: the record says what failed".into());
            p.recover_head();
        }
        block(p);
        let _ = p.complete(clause, kind);
    }
    if clauses == 0 {
        p.error(Code::Syntax, keyword, "this `try` has neither `catch` nor `finally`")
            .help
            .push("add `catch { … }` for what to do on failure, or `finally { … }`".into());
    }
    let _ = p.complete(marker, Try);
    after_block(p, Code::ConstructAsOperand);
}

// test stray_clauses
// else { echo a }
// else if x {
//     echo b
// }
// catch { echo c }
// finally {
//     echo d
// }
// elif x
// echo good
/// `else`, `catch`, `finally` where nothing came before them.
pub(crate) fn stray(p: &mut Parser<'_>, word: &[u8]) {
    let start = p.lexer.pos() as u32;
    let span = Span::new(start, start + word.len() as u32);
    let word = p.lexer.slice(span).to_owned();
    let construct = if matches!(word.as_str(), "else" | "elif") { "if" } else { "try" };
    p.error(Code::StrayClause, span, format!("`{word}` without `{construct}`"))
        .help
        .push(format!("put it after the `}}` of its `{construct}`, on the same line or the next"));
    let marker = p.start();
    p.recover_head();
    if p.byte_ahead() == b'{' {
        block(p);
    }
    let _ = p.complete(marker, Error);
}
