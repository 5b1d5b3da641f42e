//! What other languages write: recognised, so that the error can show opal's form.

use opal_core::{Code, Span};

use super::steps;
use crate::kind::SyntaxKind::{Error, RBrace};
use crate::lexer::{Lexer, is_blank, is_name_byte};
use crate::parser::Parser;

/// Whether `if`, `for` or `while` is followed by what the shell writes there.
pub(crate) fn is_shell_spelling(word: &[u8], after: &[u8]) -> bool {
    let end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let line = after[..end].trim_ascii();
    // A head that ends in its brace and holds nothing of the shell's is opal's: nearly all are.
    if line.last() == Some(&b'{') && !line.iter().any(|byte| matches!(byte, b';' | b'[' | b'(')) {
        return false;
    }
    let opener = if word == b"if" { &b"then"[..] } else { &b"do"[..] };
    let counted = word == b"for" && line.starts_with(b"((");
    if counted || (word != b"for" && is_shell_test(line)) || has_opener(line, opener) {
        return true;
    }
    if line.contains(&b'{') {
        // The line below is inside the block.
        return false;
    }
    let below = after[end..].iter().position(|byte| !byte.is_ascii_whitespace());
    below.is_some_and(|at| {
        let rest = &after[end + at..];
        rest.starts_with(opener) && rest.get(opener.len()).is_none_or(u8::is_ascii_whitespace)
    })
}

/// `[ … ]` or `[[ … ]]` with an operator of the shell, a brace or nothing after it.
fn is_shell_test(line: &[u8]) -> bool {
    let close: &[u8] = match line {
        [b'[', b'[', b' ', ..] => b" ]]",
        [b'[', b' ', ..] => b" ]",
        _ => return false,
    };
    let Some(at) = memchr::memmem::find(line, close) else { return false };
    let following = line[at + close.len()..].trim_ascii_start();
    matches!(following, [] | [b';' | b'{' | b'&' | b'|', ..])
}

/// Whether `; then`, or `then` at the end of the line, is outside quotes and before a block.
fn has_opener(line: &[u8], opener: &[u8]) -> bool {
    let mut at = 0;
    let mut word_start = 0;
    let mut after_semicolon = false;
    while at <= line.len() {
        let byte = line.get(at).copied().unwrap_or(b'\n');
        match byte {
            b'\'' | b'"' => {
                let close = memchr::memchr(byte, &line[at + 1..]);
                at += close.map_or(0, |length| length + 1);
            }
            b'#' if at > 0 && is_blank(line[at - 1]) => return false,
            b'{' if at > 0 && is_blank(line[at - 1]) => return false,
            b' ' | b'\t' | b'\r' | b'\n' | b';' => {
                let found = &line[word_start..at] == opener;
                if found && word_start > 0 && (after_semicolon || at >= line.len()) {
                    return true;
                }
                if word_start < at {
                    after_semicolon = false;
                }
                after_semicolon |= byte == b';';
                word_start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

// test shell_control_flow
// if [ -f x ]; then echo a; fi
// if [[ -f x ]]
// then
//     echo a
// fi
// if [ -f x ] {
//     echo a
// } else { echo b }
// if [ -f x ] { echo a }
// for f in *.txt; do echo $f; done
// for ((i = 0; i < 3; i++)); do
//     echo $i
// done
// while read line; do echo $line; done < file
// while true
// do
//     sleep 1
// done
// if grep -q a b; then
// if [ 1, 2 ] == x { echo good }
// if x == "a; then b" { echo good }
// for x in xs { echo good } # what to do
// while ((n + 1) * 2) < 10 { n++ }
// for x in (xs) {
//     do good
// }
// echo good
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
    error.help.push(format!("to decide at plan time, write `{form}`"));
    error.help.push(format!("to let the shell decide at run time, write `( {name} … {closer} )`"));
    let line = p.lexer.rest().lines().next().unwrap_or_default().as_bytes();
    if !has_opener(line, b"then") && !has_opener(line, b"do") && line.contains(&b'{') {
        // The shell's condition and opal's block.
        p.recover_head();
        super::blocks::block(p);
        super::control::clauses(p);
        return;
    }
    let marker = p.start();
    steps::swallow_step(p);
    let _ = p.complete(marker, Error);
}

/// `name() {`, `name () {` or `function name`, unless the same step goes on after it.
pub(crate) fn is_shell_function(word: &[u8], after: &[u8]) -> bool {
    begins_function(word, after) && !goes_on(after)
}

/// Whether something follows the body of a function on its line: `f() { …; }; f x`.
fn goes_on(after: &[u8]) -> bool {
    let line = &after[..memchr::memchr(b'\n', after).unwrap_or(after.len())];
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(&byte) = line.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' | b'"' => {
                let close = memchr::memchr(byte, &line[at + 1..]);
                at += close.map_or(line.len(), |length| length + 1);
            }
            b'{' => depth += 1,
            b'}' if depth == 1 => {
                let rest = line[at + 1..].trim_ascii();
                let next = rest.iter().position(|byte| !matches!(byte, b';' | b'&' | b'|' | b' '));
                return next.is_some_and(|next| next > 0 && rest[next] != b'#');
            }
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

fn begins_function(word: &[u8], after: &[u8]) -> bool {
    if word == b"function" {
        let blanks = after.iter().take_while(|byte| is_blank(**byte)).count();
        return blanks > 0 && after.get(blanks).is_some_and(|byte| is_name_byte(*byte));
    }
    let dashes = after.iter().take_while(|byte| is_name_byte(**byte) || **byte == b'-').count();
    let mut rest = after[dashes..].iter().filter(|byte| !is_blank(**byte));
    rest.next() == Some(&b'(') && rest.next() == Some(&b')')
}

// test shell_functions
// greet() {
//     if [ x ]; then echo a; fi
// }
// my-task () { echo b; }
// function other { echo c; }
// later()
// {
//     echo "it's"
// }
// function
// greet a
// echo good
// test shell_function_that_is_called
// f() { echo "a } $1"; }; f x
// g () { echo b; } && g @var.x | tee log
// h() { echo c; };
// i() { echo d; } # e
// echo good
/// A definition that ends with its step.
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
    if !line.contains('{') && p.lexer.peek_past_trivia().first() == Some(&b'{') {
        p.lexer.between_statements();
        p.pass_tokens();
        p.peek();
        p.bump();
        p.error_node(Lexer::skip_braces);
        p.eat(RBrace);
    }
    let _ = p.complete(marker, Error);
}

// test leading_operators
// && echo a
// | sort
// || echo b
// ; echo c
// & echo "d
// e"
// echo good
/// A line that begins with `&&`, `||`, `|` or `;`.
pub(crate) fn leading_operator(p: &mut Parser<'_>) {
    let start = p.lexer.pos() as u32;
    let width =
        p.lexer.rest().bytes().take_while(|b| matches!(b, b'&' | b'|' | b';')).count() as u32;
    let span = Span::new(start, start + width);
    let operator = p.lexer.slice(span).to_owned();
    let help = match operator.as_str() {
        "&&" | "||" | "|" => {
            format!("to continue the previous line, end it with `{operator}` or `\\`")
        }
        _ => format!("delete the `{operator}`, or put it at the end of the previous line"),
    };
    p.error(Code::LeadingOperator, span, format!("a line cannot begin with `{operator}`"))
        .help
        .push(help);
    let marker = p.start();
    steps::swallow_step(p);
    let _ = p.complete(marker, Error);
}
