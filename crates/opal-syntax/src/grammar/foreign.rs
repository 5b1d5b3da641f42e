//! What other languages write: recognised, so that the error can show opal's form.

use opal_core::{Code, Span};

use super::steps;
use crate::kind::SyntaxKind::Error;
use crate::lexer::{is_blank, is_name_byte};
use crate::parser::Parser;

/// Whether `if`, `for` or `while` is followed by what the shell writes there.
pub(crate) fn is_shell_spelling(word: &[u8], after: &[u8]) -> bool {
    let end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let line = after[..end].trim_ascii();
    let opener = if word == b"if" { &b"then"[..] } else { &b"do"[..] };
    let ends_in_opener = line.ends_with(opener)
        && line.len() > opener.len()
        && matches!(line[line.len() - opener.len() - 1], b' ' | b'\t' | b';');
    let then_inside = memchr::memmem::find_iter(line, opener).any(|at| {
        let before = line[..at].trim_ascii_end();
        before.ends_with(b";") && line.get(at + opener.len()).is_none_or(|byte| is_blank(*byte))
    });
    let test = word != b"for" && (line.starts_with(b"[[") || line.starts_with(b"[ "));
    let arithmetic = word != b"if" && line.starts_with(b"((");
    let next_line = after[end..].trim_ascii_start();
    let on_next_line = next_line.starts_with(opener)
        && next_line.get(opener.len()).is_none_or(|byte| byte.is_ascii_whitespace());
    ends_in_opener || then_inside || test || arithmetic || on_next_line
}

/// `if …; then`, `for …; do`, `while …; do`: one error, and the text up to the closing word.
pub(crate) fn shell_control_flow(p: &mut Parser<'_>, word: &[u8]) {
    let start = p.lexer.pos() as u32;
    let span = Span::new(start, start + word.len() as u32);
    let (name, form, closer) = match word {
        b"if" => ("if", "if NAME == \"value\" { … } else { … }", "fi"),
        b"for" => ("for", "for NAME in [\"a\", \"b\"] { … }", "done"),
        _ => ("while", "while COUNT < 3 { … }", "done"),
    };
    let message = format!("this is the shell's `{name}`");
    let error = p.error(Code::ShellControlFlow, span, message);
    error.help.push(format!("opal decides at plan time and writes `{form}`"));
    error.help.push(format!("for the shell to decide at run time: `( {name} … {closer} )`"));
    let marker = p.start();
    let line_has_brace = p.lexer.rest().lines().next().is_some_and(|l| l.trim_end().ends_with('{'));
    if line_has_brace {
        p.abandon(marker);
        p.recover();
        super::statements::block(p);
        super::control::clauses(p);
        return;
    }
    steps::swallow_step(p);
    let _ = p.complete(marker, Error);
}

/// `name() {`, `name () {` or `function name`.
pub(crate) fn is_shell_function(word: &[u8], after: &[u8]) -> bool {
    if word == b"function" {
        let name = after.trim_ascii_start();
        return after.len() > name.len() && name.first().is_some_and(|byte| is_name_byte(*byte));
    }
    let dashes = after.iter().take_while(|byte| is_name_byte(**byte) || **byte == b'-').count();
    let rest = after[dashes..].trim_ascii_start();
    rest.strip_prefix(b"(").is_some_and(|rest| rest.trim_ascii_start().starts_with(b")"))
}

pub(crate) fn shell_function(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    let line = p.lexer.rest().lines().next().unwrap_or_default();
    let head = line.split('{').next().unwrap_or(line).trim_end();
    let name = head.trim_start_matches("function").trim_start();
    let name: String =
        name.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    let span = Span::new(start, start + head.len() as u32);
    p.error(Code::ShellFunction, span, "a shell function ends with the step that defines it")
        .help
        .push(format!("write `fun {name}() {{ … }}` and call it with `@cmd.{name}()`"));
    let marker = p.start();
    steps::swallow_step(p);
    let _ = p.complete(marker, Error);
}

/// A line that begins with `&&`, `||` or `|`.
pub(crate) fn leading_operator(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    let width = p.lexer.rest().bytes().take_while(|b| matches!(b, b'&' | b'|')).count() as u32;
    let span = Span::new(start, start + width);
    let operator = p.lexer.slice(span).to_owned();
    p.error(Code::LeadingOperator, span, format!("a line cannot begin with `{operator}`"))
        .help
        .push(format!("end the line before with `{operator}`, or with `\\`, to go on here"));
    let marker = p.start();
    steps::swallow_step(p);
    let _ = p.complete(marker, Error);
}
