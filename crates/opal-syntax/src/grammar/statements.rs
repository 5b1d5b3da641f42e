//! Which construct a statement is: the first word decides.

use opal_core::{Code, Span};

use super::blocks::{after_block, at_top_level_function, block, recover};
use super::{bindings, control, foreign, functions, steps, when};
use crate::lexer::{Lexer, is_blank, is_name_byte, is_name_start};
use crate::parser::Parser;

/// Where a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Top,
    Block,
}

/// Statements up to a `}` or the end of the file.
pub(crate) fn statements(p: &mut Parser<'_>, level: Level) {
    loop {
        p.settle();
        p.broken_string = false;
        p.lexer.between_statements();
        p.pass_tokens();
        match p.lexer.byte(0) {
            _ if p.lexer.at_end() => return,
            b'}' if level == Level::Block => return,
            b'}' => unmatched_brace(p),
            b'f' if level == Level::Block && at_top_level_function(p) => return,
            _ => {
                let before = p.lexer.pos();
                statement(p, level);
                end_of_statement(p);
                assert!(p.lexer.pos() > before, "the grammar stands still at byte {before}");
            }
        }
    }
}

// test unmatched_brace
// echo a
// }
// echo b
// }} echo c
// } }
/// A run of them is one error, on each line.
fn unmatched_brace(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    p.error_node(Lexer::skip_closers);
    let span = Span::new(start, p.lexer.pos() as u32);
    p.error(Code::UnmatchedBrace, span, "this `}` closes nothing")
        .help
        .push("delete it, or quote it where it is text: `'}'`".into());
}

/// A statement begins on a new line, after `{` or after `->`.
// test text_after_statement
// var a = 1 2
// n++ m++
// if x { } echo b
// n = 1 {
//     echo a
// }
// echo good
pub(crate) fn end_of_statement(p: &mut Parser<'_>) {
    p.settle();
    if at_top_level_function(p) {
        // A block without its end stopped here.
        return;
    }
    let mut said = false;
    while !p.at_line_end() && p.byte_ahead() != b'}' {
        p.lexer.blanks();
        p.pass_tokens();
        if !said {
            say_text_after_statement(p);
            said = true;
        }
        recover(p);
        p.settle();
    }
}

fn say_text_after_statement(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    let rest = p.lexer.rest();
    let line = rest.lines().next().unwrap_or(rest).trim_end();
    let shown: String = line.chars().take(30).collect();
    let span = Span::new(start, start + line.len() as u32);
    let message = format!("`{shown}` stands after the end of a statement");
    let help = match line.as_bytes() {
        [b'?', ..] => "there is no `? :`; choose with `if … { NAME = … }`",
        [b'(', ..] => "values have no methods; functions are int float str split join lines trim",
        [b'^' | b'~', ..] => "operators are + - * / % == != < <= > >= && || ! and `...`",
        [b';', ..] => "one statement a line, and no `;` behind it",
        _ => "a statement begins on a line of its own",
    };
    p.error(Code::TextAfterStatement, span, message).help.push(help.into());
}

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

/// The one step behind `=` or a label's `:`.
// test body_is_a_step
// fun a() = if x { echo a }
// b: for x in xs { echo a }
// fun c() = { echo a }
// fun d() = x = 1
// fun e() = var x = 1
// fun f() = cargo build
// g: @cmd.f()
pub(crate) fn body_step(p: &mut Parser<'_>) {
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
            statement(p, Level::Block);
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
        .push("anything but one step stands in a block: `fun NAME() { … }`".into());
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
