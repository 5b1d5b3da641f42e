//! Which construct a statement is: the first word decides.

use opal_core::Code;

use super::blocks::{after_block, block};
use super::{bindings, control, foreign, functions, imports, steps, when};
use crate::lexer::{is_blank, is_name_byte, is_name_start};
use crate::parser::{Level, Parser};

// test keywords_are_words
// echo if else for
// iffy x
// if-up eth0
// variant x
// var.x
// for: a
// let y=1+2
// trying
// whenever
// { var}
pub(crate) fn statement(p: &mut Parser<'_>, level: Level) {
    let rest = p.lexer.rest().as_bytes();
    if imports::is_import(rest) {
        return imports::import(p, level);
    }
    p.is_past_imports = true;
    let first = rest.first().copied().unwrap_or(0);
    if is_name_start(first) {
        return word_statement(p, level, rest);
    }
    match first {
        b'@' => steps::decorator_statement(p),
        b'{' => plain_block(p),
        b'&' | b'|' | b';' => foreign::leading_operator(p),
        _ => steps::shell_step(p),
    }
}

fn word_statement(p: &mut Parser<'_>, level: Level, rest: &[u8]) {
    let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
    let (word, after) = rest.split_at(length);
    if construct(p, level, word, after) {
        return;
    }
    if level == Level::Top && functions::is_label(rest) {
        return functions::label(p);
    }
    match after.first().copied().unwrap_or(b'\n') {
        b' ' | b'\t' | b'\r' | b'+' | b'-' if bindings::is_assignment(after) => {
            bindings::assignment(p);
        }
        b' ' | b'\t' | b'(' | b'-' if foreign::is_shell_function(word, after) => {
            foreign::shell_function(p);
        }
        _ => steps::shell_step(p),
    }
}

/// A statement that a keyword begins; false where there is none.
fn construct(p: &mut Parser<'_>, level: Level, word: &[u8], after: &[u8]) -> bool {
    // Most first words are none of these, and their length tells.
    if !matches!(word.len(), 2..=7) {
        return false;
    }
    let next = after.first().copied().unwrap_or(b'\n');
    if !is_blank(next) && !matches!(next, b'\n' | b'(' | b'{' | b'}') {
        let bound =
            word == b"let" && next == b'.' && after.get(1).is_some_and(|byte| is_name_start(*byte));
        if bound {
            bindings::r#let(p);
        }
        return bound;
    }
    match word {
        b"var" => bindings::var(p),
        b"fun" => functions::fun(p, level),
        b"when" => when::when(p),
        b"try" => control::r#try(p),
        b"if" | b"for" | b"while" if foreign::is_shell_spelling(word, after) => {
            foreign::shell_control_flow(p, word);
        }
        b"if" => control::r#if(p),
        b"for" => control::r#for(p),
        b"while" => control::r#while(p),
        b"else" | b"catch" | b"finally" | b"elif" if next != b'(' => control::stray(p, word),
        b"let" if bindings::looks_like_let(after) => bindings::bare_let(p),
        _ => return false,
    }
    true
}

// test plain_block
// {
//     var x = 1
//     echo @var.x
// }
fn plain_block(p: &mut Parser<'_>) {
    block(p);
    after_block(p, Code::RedirectedBlock);
}
