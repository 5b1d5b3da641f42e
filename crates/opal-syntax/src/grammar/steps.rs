//! Shell steps, decorator calls, and the operators that opal runs between them.
//!
//! A line without a decorator in command position is one [`ShellStep`]: its operators are the
//! shell's. With one, the line is a [`Chain`] of operands and opal runs the operators.

use opal_core::{Code, Span};

use super::{blocks, references};
use crate::kind::SyntaxKind::{self, *};
use crate::lexer::{At, Stop};
use crate::parser::{Completed, Parser};

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
            chain(p, stop, false);
            let _ = p.complete(marker, Chain);
        }
    }
}

/// A step that was passed over, and the block that it may have led to.
fn broken(p: &mut Parser<'_>) {
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
                    .push("give it a line or an operand of its own".into());
            }
        }
        p.recover();
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
    let value = match p.lexer.at(p.lexer.pos(), true) {
        At::Literal => true,
        At::Path { kind: Some(kind), .. } => !kind.action,
        At::Path { kind: None, .. } | At::Word { .. } => false,
    };
    if value {
        return shell_step(p);
    }
    let call = references::call(p, false);
    call_tail(p, call);
}

/// Operators and redirections behind a call.
fn call_tail(p: &mut Parser<'_>, call: Completed) {
    if p.at_line_end() || p.byte_ahead() == b'}' {
        return;
    }
    let marker = p.precede(call);
    let stop = p.lexer.step(false);
    chain(p, stop, true);
    let _ = p.complete(marker, Chain);
}

// test chains
// @cmd.a && @cmd.b; @cmd.c
// cat < @file.read("a") >> @file.write("b")
// echo a 2> @file.write("p") | @to.display() > log.txt
// @cmd.a > out.txt 2>&1 && echo b
// @cmd.a foo bar
// @cmd.a & @cmd.b
// ( @cmd.a )
// @cmd.a {
//     echo a
// } || echo b
// test chain_heredocs
// cat <<EOF > @file.write("p")
// a @var.b
// EOF
// cat <<A | @to.display() && cat <<'B' # comment
// a
// A
// b @var.c
// B
// @cmd.a() && cat <<EOF
// own
// EOF
// echo good
/// Operands and operators up to the end of the line; the lexer has read up to `stop`.
fn chain(p: &mut Parser<'_>, mut stop: Stop, mut after_call: bool) {
    loop {
        operands(p, after_call, stop == Stop::Target);
        match stop {
            Stop::End => break,
            Stop::Broken => return broken(p),
            Stop::Decorator => {
                let _ = references::call(p, false);
            }
            Stop::Target => {
                let redirect = p.start();
                p.bump();
                let _ = references::call(p, false);
                let _ = p.complete(redirect, Redirect);
            }
        }
        after_call = true;
        if p.at_line_end() || p.byte_ahead() == b'}' {
            p.lexer.end_line();
            break;
        }
        stop = p.lexer.step(false);
    }
    while p.at_line_end() && p.lexer.owes_heredocs() && !p.lexer.at_end() {
        heredoc(p);
    }
    p.lexer.check_end();
}

/// The body of a heredoc that an operand before a decorator announced.
fn heredoc(p: &mut Parser<'_>) {
    let Some(delimiter) = p.lexer.owed_heredoc() else { return };
    while p.raw().is_some_and(SyntaxKind::is_trivia) {
        p.pass_trivia();
    }
    p.fenced = true;
    let marker = p.start();
    operand(p, &mut 0);
    p.complete_with(marker, Heredoc, delimiter);
    p.fenced = false;
}

/// Takes the tokens that the lexer has read, an operand for each stretch between operators.
fn operands(p: &mut Parser<'_>, mut after_call: bool, target: bool) {
    p.fenced = true;
    let mut context = 0;
    while let Some(kind) = p.raw() {
        match kind {
            RedirOp if target => break,
            kind if kind.is_trivia() => p.pass_trivia(),
            ShellOp => {
                operator(p);
                after_call = false;
            }
            ShellText if p.token_text().trim().is_empty() => p.bump(),
            ErrorText => p.bump(),
            _ if after_call => redirections(p, &mut context),
            _ => {
                let marker = p.start();
                operand(p, &mut context);
                let _ = p.complete(marker, ShellStep);
            }
        }
    }
    p.fenced = false;
}

fn operand(p: &mut Parser<'_>, context: &mut usize) {
    while let Some(kind) = p.raw() {
        match kind {
            ShellOp | RedirOp => return,
            RefPath => {
                references::in_text(p, *context);
                *context += 1;
            }
            kind if kind.is_trivia() => p.pass_trivia(),
            _ => p.bump(),
        }
    }
}

fn operator(p: &mut Parser<'_>) {
    let (span, text) = (p.span(), p.token_text());
    if matches!(text, "&" | "|&" | ";;" | ";&") {
        let message = format!("`{text}` does not work with a decorator on the line");
        p.error(Code::MisplacedDecorator, span, message).help.push(
            "known are `&&`, `||`, `|` and `;`; `@parallel { … }` runs steps side by side".into(),
        );
    }
    p.bump();
}

/// Text directly behind a call: redirections, and nothing else.
fn redirections(p: &mut Parser<'_>, context: &mut usize) {
    let marker = p.start();
    let (start, text) = (p.span().start, p.token_text().trim_start());
    let redirects = text.starts_with(['<', '>'])
        || text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['<', '>'])
        || text.starts_with("&>");
    if !redirects {
        let shown: String = text.trim().chars().take(30).collect();
        let blanks = p.token_text().len() - text.len();
        let start = start + blanks as u32;
        let span = Span::new(start, start + text.trim_end().len().max(1) as u32);
        let message = format!("`{shown}` cannot follow a decorator");
        let error = p.error(Code::MisplacedDecorator, span, message);
        error.help.push("arguments stand in parentheses: `@cmd.NAME(\"value\")`".into());
        error.help.push("operators and redirections may follow, other text may not".into());
    }
    operand(p, context);
    let _ = p.complete(marker, Redirect);
}

/// The block of a decorator, if one follows on the line.
pub(crate) fn decorator_block(p: &mut Parser<'_>) {
    if p.byte_ahead() == b'{' {
        blocks::block(p);
        p.settle();
    }
}
