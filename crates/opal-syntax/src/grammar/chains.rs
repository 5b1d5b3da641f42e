//! Lines on which decorators are operands: opal runs the operators between them itself.

use opal_core::{Code, Span};

use super::{references, steps};
use crate::kind::SyntaxKind::{self, *};
use crate::lexer::Stop;
use crate::parser::{Completed, Parser};

/// What precedes the text that the shell lane reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    Call,
    /// A call of nothing that exists: the name resolution says so, and that is enough. What it would
    /// be given stays with it as text.
    UnknownCall,
}

/// Operators and redirections after a call.
pub(crate) fn call_tail(p: &mut Parser<'_>, call: Completed, before: Before) {
    if p.at_line_end() || p.byte_ahead() == b'}' {
        return;
    }
    let marker = p.precede(call);
    let stop = p.lexer.step(false);
    chain(p, stop, before);
    let _ = p.complete(marker, Chain);
}

// test chains
// @cmd.a && @cmd.b; @cmd.c
// cat < @file.read("a") >> @file.write("b")
// echo a 2> @file.write("p") | @to.display() > log.txt
// @cmd.a > out.txt 2>&1 && echo b
// @cmd.a foo bar
// @echo  foo  bar
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
pub(crate) fn chain(p: &mut Parser<'_>, mut stop: Stop, mut before: Before) {
    loop {
        let dangling = operands(p, before, stop == Stop::Target);
        match stop {
            Stop::End => break,
            Stop::Broken => return steps::broken(p),
            Stop::Decorator => {
                if dangling {
                    text_before_call(p);
                }
                let _ = references::call(p, false);
            }
            Stop::Target => {
                let redirect = p.start();
                p.bump();
                let _ = references::call(p, false);
                let _ = p.complete(redirect, Redirect);
            }
        }
        before = Before::Call;
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

/// `! @cmd.a`, `X=1 @cmd.a`: the shell's prefixes do not reach a decorator.
fn text_before_call(p: &mut Parser<'_>) {
    let span = p.previous();
    let text = p.lexer.slice(span).trim().to_owned();
    let error =
        p.error(Code::MisplacedDecorator, span, format!("`{text}` cannot precede a decorator"));
    error.help.push(match text.as_str() {
        "!" => "to continue after a failure, write `@cmd.NAME() || true`".into(),
        _ if text.contains('=') => "set variables with `@environ(NAME=\"value\") { … }`".into(),
        _ => "a decorator must come first in its operand".into(),
    });
}

/// Takes the tokens that the lexer has read, an operand for each stretch between operators; true
/// where the last thing was an operand.
fn operands(p: &mut Parser<'_>, mut before: Before, target: bool) -> bool {
    p.fenced = true;
    let mut dangling = false;
    let mut context = 0;
    while let Some(kind) = p.raw() {
        match kind {
            RedirOp if target => break,
            kind if kind.is_trivia() => p.pass_trivia(),
            ShellOp => {
                operator(p);
                before = Before::Nothing;
                dangling = false;
            }
            ShellText if p.token_text().trim().is_empty() => p.bump(),
            ErrorText => p.bump(),
            _ if before != Before::Nothing => redirections(p, before, &mut context),
            _ => {
                let marker = p.start();
                operand(p, &mut context);
                let _ = p.complete(marker, ShellStep);
                dangling = true;
            }
        }
    }
    p.fenced = false;
    dangling
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
            "expected one of: `&&`, `||`, `|`, `;`; `@parallel { … }` runs steps in parallel"
                .into(),
        );
    }
    p.bump();
}

/// Text directly after a call: redirections, and nothing else.
fn redirections(p: &mut Parser<'_>, before: Before, context: &mut usize) {
    let marker = p.start();
    let (start, text) = (p.span().start, p.token_text().trim_start());
    let redirects = text.starts_with(['<', '>'])
        || text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['<', '>'])
        || text.starts_with("&>");
    if !redirects && before == Before::Call {
        let shown: String = text.trim().chars().take(30).collect();
        let blanks = p.token_text().len() - text.len();
        let start = start + blanks as u32;
        let span = Span::new(start, start + text.trim_end().len().max(1) as u32);
        text_after_call(p, span, &shown);
    }
    operand(p, context);
    let _ = p.complete(marker, Redirect);
}

/// Says what to write instead of the text after a call.
fn text_after_call(p: &mut Parser<'_>, span: Span, shown: &str) {
    let before = p.previous();
    let path = p.lexer.slice(before).to_owned();
    let first = shown.split_whitespace().next().unwrap_or(shown);
    let clause = matches!(first, "else" | "catch" | "finally" | "elif");
    let (code, help) = match path.as_str() {
        "}" if clause => (Code::StrayClause, "handle failures with `try { … } catch { … }`".into()),
        // Only after an error: what comes before is then not a call.
        path if path != ")" && !path.starts_with('@') => {
            (Code::TextAfterStatement, "put the next step on its own line".into())
        }
        ")" => (
            Code::MisplacedDecorator,
            "put the command that a decorator runs in its block: `@NAME(…) { command }`".into(),
        ),
        _ if shown.starts_with('(') => {
            (Code::MisplacedDecorator, format!("arguments follow without a blank: `{path}(…)`"))
        }
        _ => {
            let value = shown.split('{').next().unwrap_or(shown).trim();
            let literal = value.starts_with(|c: char| c.is_ascii_digit() || c == '"' || c == '\'');
            let value = if literal { value.to_owned() } else { format!("\"{value}\"") };
            let help = format!("put arguments in parentheses: `{path}({value})`");
            (Code::MisplacedDecorator, help)
        }
    };
    let error = p.error(code, span, format!("`{shown}` cannot follow a decorator"));
    error.help.push(help);
    error.help.push("only operators and redirections can follow".into());
}
