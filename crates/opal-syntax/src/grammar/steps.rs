//! Shell steps and decorator calls.
//!
//! A line without a decorator in command position is one [`ShellStep`]: its operators are the
//! shell's. With one, the line is a [`Chain`]: see `chains`.

use opal_core::Code;

use super::chains::{Before, call_tail, chain};
use super::{blocks, references};
use crate::kind::SyntaxKind::*;
use crate::lexer::{At, Stop};
use crate::parser::Parser;

// test shell_step
// kubectl apply -f k8s/ --replicas=@var.n && echo "done @var.n" # comment
// test shell_chain
// echo a | grep a && @cmd.build() || echo "no" > @file.write("p")
// test shell_unfinished
// echo "a
// echo good
// test shell_quote_unfinished_in_a_block
// @retry(3) { echo 'a }
// echo good
// test shell_ansi_quote_unfinished
// echo $'a\'
// echo good
// test shell_brackets_unfinished
// echo $(a
// echo ${a
// (echo a
// echo {a,b
// a=(b c
// echo $((1 + 2)
// (( 1 + 2 )
// diff <(a
// echo @file.read("a"
// echo good
// test shell_backtick_unfinished
// echo `a
// echo good
// test shell_compounds_unfinished
// case x in
// until true; do
// select x in a b; do
// [[ a == b
// echo a | while read x; do
// echo a && if true; then
// echo good
// test shell_compound_unfinished_over_lines
// case x in
//   a) echo b ;;
//   c) echo d ;;
// echo good
// test shell_paren_unmatched
// echo a )
// (echo a))
// case x in a) echo good ;; esac
// test shell_constructs_as_operands
// a && when x {
//     1 -> echo a
// }
// echo x && if y { echo z }
// echo x; for y in z {
//     echo a
// }
// echo x || try { echo a } catch { echo b }
// echo x && if true; then { echo good; }; fi
// @cmd.a() && while x { echo b }
// test shell_dangling
// if x { echo a && }
// @cmd.a() |
// test shell_dangling_at_the_end
// echo a &&
// # comment
pub(crate) fn shell_step(p: &mut Parser<'_>) {
    p.settle();
    let marker = p.start();
    match p.lexer.step(true) {
        Stop::End => {
            let refs = step_tokens(p);
            let kind = if refs == Refs::Alone { Requirement } else { ShellStep };
            let _ = p.complete(marker, kind);
            p.lexer.check_end();
        }
        Stop::Broken => {
            broken(p);
            let _ = p.complete(marker, Error);
        }
        stop => {
            chain(p, stop, Before::Nothing);
            let _ = p.complete(marker, Chain);
        }
    }
}

/// A step that was passed over, and the block that it may have led to.
pub(crate) fn broken(p: &mut Parser<'_>) {
    rest_of_row(p);
    if p.byte_ahead() == b'{' {
        blocks::block(p);
    }
}

/// The text of `@shell("…")`: all of it is one command.
pub(crate) fn shell_literal(p: &mut Parser<'_>) {
    loop {
        p.lexer.between_statements();
        p.pass_tokens();
        if p.lexer.at_end() {
            return;
        }
        let marker = p.start();
        let stop = p.lexer.step(true);
        step_tokens(p);
        let _ = p.complete(marker, ShellStep);
        match stop {
            Stop::End | Stop::Broken => p.lexer.check_end(),
            Stop::Decorator | Stop::Target => {
                p.peek();
                let span = p.span();
                let message =
                    format!("`{}` cannot run inside the text of a command", p.token_text());
                p.error(Code::MisplacedDecorator, span, message)
                    .help
                    .push("put it on its own line, or make it an operand of its own".into());
            }
        }
        if !p.at_line_end() {
            p.recover();
        }
        // No block begins inside a command.
        if p.peek() == LBrace {
            p.bump();
        }
        p.settle();
    }
}

/// Passes over a step that an error was reported for.
pub(crate) fn swallow_step(p: &mut Parser<'_>) {
    p.settle();
    let errors = p.lexer.errors.len();
    let stop = p.lexer.step(true);
    rest_of_row(p);
    if matches!(stop, Stop::Decorator | Stop::Target) {
        p.recover();
    }
    p.lexer.check_end();
    p.lexer.errors.truncate(errors);
}

fn rest_of_row(p: &mut Parser<'_>) {
    while let Some(kind) = p.raw() {
        if kind.is_trivia() { p.pass_trivia() } else { p.bump() }
    }
}

/// What the references of a step are.
#[derive(PartialEq, Eq)]
enum Refs {
    /// The step is one reference and nothing else.
    Alone,
    Other,
}

/// Takes the tokens of a step that the lexer has read.
fn step_tokens(p: &mut Parser<'_>) -> Refs {
    p.fenced = true;
    let mut parts = 0;
    let mut raw = false;
    let mut context = 0;
    while let Some(kind) = p.raw() {
        match kind {
            RefPath => {
                raw |= p.token_text() == "@raw";
                references::in_text(p, context);
                context += 1;
            }
            kind if kind.is_trivia() => {
                p.pass_trivia();
                continue;
            }
            _ => p.bump(),
        }
        parts += 1;
    }
    p.fenced = false;
    if parts == 1 && context == 1 && !raw { Refs::Alone } else { Refs::Other }
}

// test decorator_statements
// @retry(3, delay=2s) {
//     curl -f https://example.com
// }
// @cmd.build
// @env.HOME
// @env.EDITOR notes.txt
// @timeout(5s) { sleep 1 } && echo ok > log.txt
pub(crate) fn decorator_statement(p: &mut Parser<'_>) {
    p.settle();
    let before = match p.lexer.at(p.lexer.pos(), true) {
        At::Literal => return shell_step(p),
        At::Path { kind: Some(kind), .. } if !kind.action => return shell_step(p),
        At::Path { kind: Some(_), .. } => Before::Call,
        At::Path { kind: None, .. } | At::Word { .. } => Before::UnknownCall,
    };
    let call = references::call(p, false);
    call_tail(p, call, before);
}

/// The block of a decorator, if one follows on the line.
pub(crate) fn decorator_block(p: &mut Parser<'_>) {
    if p.byte_ahead() == b'{' {
        blocks::block(p);
        p.settle();
    }
}
