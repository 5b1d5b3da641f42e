//! Which construct a statement is: the first word decides.

use opal_core::{Code, Span};

use super::{MAX_DEPTH, bindings, control, foreign, functions, steps};
use crate::kind::SyntaxKind::*;
use crate::lexer::{is_blank, is_name_byte, is_name_start};
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
        p.lexer.between_statements();
        p.pass_tokens();
        match p.lexer.byte(0) {
            _ if p.lexer.at_end() => return,
            b'}' if level == Level::Block => return,
            b'}' => unmatched_brace(p),
            _ => {
                let before = p.lexer.pos();
                statement(p, level);
                p.settle();
                end_of_statement(p);
                assert!(p.lexer.pos() > before, "the grammar stands still at byte {before}");
            }
        }
    }
}

fn unmatched_brace(p: &mut Parser<'_>) {
    p.peek();
    let span = p.span();
    p.error(Code::UnmatchedBrace, span, "this `}` closes nothing")
        .help
        .push("delete it, or quote it where it is text: `'}'`".into());
    let marker = p.start();
    p.bump();
    let _ = p.complete(marker, Error);
}

/// A statement begins on a new line, after `{` or after `->`.
pub(crate) fn end_of_statement(p: &mut Parser<'_>) {
    if p.at_line_end() || p.byte_ahead() == b'}' {
        return;
    }
    p.lexer.blanks();
    p.pass_tokens();
    let start = p.lexer.pos() as u32;
    let rest = p.lexer.rest();
    let line = rest.lines().next().unwrap_or(rest).trim_end();
    let shown: String = line.chars().take(30).collect();
    let span = Span::new(start, start + line.len() as u32);
    let message = format!("`{shown}` stands after the end of a statement");
    p.error(Code::TextAfterStatement, span, message)
        .help
        .push("a statement begins on a line of its own".into());
    p.recover();
    // A `{` that ended the line opens nothing here.
    if p.byte_ahead() == b'{' {
        p.peek();
        p.bump();
        p.pass_tokens();
    }
}

pub(crate) fn statement(p: &mut Parser<'_>, level: Level) {
    let rest = p.lexer.rest().as_bytes();
    let first = rest.first().copied().unwrap_or(0);
    if is_name_start(first) {
        return word_statement(p, level, rest);
    }
    match first {
        b'@' => steps::decorator_statement(p),
        b'{' => plain_block(p),
        b'&' | b'|' => foreign::leading_operator(p),
        _ => steps::shell_step(p),
    }
}

fn word_statement(p: &mut Parser<'_>, level: Level, rest: &[u8]) {
    let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
    let (word, after) = rest.split_at(length);
    let next = after.first().copied().unwrap_or(b'\n');
    let alone = is_blank(next) || matches!(next, b'\n' | b'(' | b'{');
    if alone {
        match word {
            b"var" => return bindings::var(p),
            b"fun" => return functions::fun(p, level),
            b"when" => return control::when(p),
            b"try" => return control::r#try(p),
            b"if" | b"for" | b"while" if foreign::is_shell_spelling(word, after) => {
                return foreign::shell_control_flow(p, word);
            }
            b"if" => return control::r#if(p),
            b"for" => return control::r#for(p),
            b"while" => return control::r#while(p),
            b"else" | b"catch" | b"finally" | b"elif" if next != b'(' => {
                return control::stray(p, word);
            }
            b"let" if bindings::looks_like_let(after) => return bindings::bare_let(p),
            _ => {}
        }
    }
    if word == b"let" && next == b'.' && after.get(1).is_some_and(|byte| is_name_start(*byte)) {
        return bindings::r#let(p);
    }
    if level == Level::Top && functions::is_label(rest) {
        return functions::label(p);
    }
    if bindings::is_assignment(after) {
        return bindings::assignment(p);
    }
    if foreign::is_shell_function(word, after) {
        return foreign::shell_function(p);
    }
    steps::shell_step(p);
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

/// `{ … }`; says so where there is none.
pub(crate) fn block(p: &mut Parser<'_>) {
    if p.peek() != LBrace {
        missing_block(p);
        return;
    }
    let marker = p.start();
    let open = p.span();
    p.bump();
    p.depth += 1;
    if p.depth > MAX_DEPTH {
        let message = format!("blocks nest deeper than {MAX_DEPTH} levels");
        p.error(Code::TooDeep, open, message)
            .help
            .push("move the inner part into a function of its own".into());
        p.lexer.skip_braces();
        p.pass_tokens();
    } else {
        let (head, brackets) = (std::mem::take(&mut p.head), std::mem::take(&mut p.brackets));
        statements(p, Level::Block);
        (p.head, p.brackets) = (head, brackets);
    }
    p.depth -= 1;
    p.settle();
    if !p.eat(RBrace) {
        p.error(Code::UnclosedBlock, open, "this block has no `}`")
            .help
            .push("close it; a `}` inside quotes or a comment does not count".into());
    }
    let _ = p.complete(marker, Block);
}

fn missing_block(p: &mut Parser<'_>) {
    let on_next_line = p.peek() == Newline && {
        p.settle();
        p.lexer.peek_past_trivia().first() == Some(&b'{')
    };
    if on_next_line {
        let error = p.expected("`{` on this line");
        error.help.push("the opening brace stands on the line of its construct".into());
        p.pass_newlines();
        block(p);
        return;
    }
    let assigns = p.peek() == Eq;
    let word = if p.peek() == Ident { p.token_text() } else { "" };
    let dotted = p.peek() == Unknown || p.peek() == Semicolon;
    let error = p.expected("`{`");
    match word {
        _ if assigns => error.help.push("a comparison is written `==`".into()),
        "and" => error.help.push("`and` is written `&&`".into()),
        "or" => error.help.push("`or` is written `||`".into()),
        _ if dotted => error.help.push(
            "a condition is an expression, not a command: compare values with `==`, `<`, `!`"
                .into(),
        ),
        _ => error.help.push("the body of a construct stands in `{ … }`".into()),
    }
    p.recover();
    if p.byte_ahead() == b'{' {
        block(p);
    }
}

/// What may follow the `}` of a construct on its line: nothing that `code` forbids.
pub(crate) fn after_block(p: &mut Parser<'_>, code: Code) {
    let byte = p.byte_ahead();
    if !matches!(byte, b'&' | b'|' | b';' | b'<' | b'>') {
        return;
    }
    p.lexer.blanks();
    p.pass_tokens();
    let start = p.lexer.pos() as u32;
    let width = p.lexer.rest().bytes().take_while(|b| b"&|;<>".contains(b)).count() as u32;
    let span = Span::new(start, start + width);
    let operator = p.lexer.slice(span).to_owned();
    let error = if code == Code::RedirectedBlock {
        let message = format!("`{operator}` cannot follow a plain block");
        p.error(code, span, message)
    } else {
        let message = format!("`{operator}` cannot follow a construct: it is no operand");
        p.error(code, span, message)
    };
    error.help.push(if code == Code::RedirectedBlock {
        "a group of commands for the shell is `( … )`".into()
    } else {
        "put the rest on a line of its own, or inside the block".into()
    });
    p.recover();
}
