//! `{ … }`, and what may stand around it.

use opal_core::{Code, Span};

use super::MAX_DEPTH;
use super::statements::{Level, statements};
use crate::kind::SyntaxKind::*;
use crate::parser::Parser;

/// `{ … }`; says so where there is none.
// test block_missing
// if x == 1
//     echo a
// }
// echo good
// test block_on_the_next_line
// if x
// {
//     echo a
// }
// test block_unclosed
// if x {
//     echo a
// test block_unclosed_before_function
// fun a() {
//     if x {
//         echo a
// }
// fun b() = echo good
// test block_empty
// if x { }
pub(crate) fn block(p: &mut Parser<'_>) {
    if p.peek() != LBrace {
        missing_block(p);
        return;
    }
    let marker = p.start();
    braces(p, "block", |p| statements(p, Level::Block));
    let _ = p.complete(marker, Block);
}

/// Passes over the rest of the line, and over the block that it may lead to.
pub(crate) fn recover(p: &mut Parser<'_>) {
    p.recover();
    if p.byte_ahead() == b'{' {
        block(p);
    }
}

/// A brace, what `inside` reads, and the brace that closes it.
pub(crate) fn braces(p: &mut Parser<'_>, what: &str, inside: impl FnOnce(&mut Parser<'_>)) {
    let open = p.span();
    p.bump();
    let (head, brackets) = (std::mem::take(&mut p.head), std::mem::take(&mut p.brackets));
    let outer = p.lexer.block.replace(open.start as usize);
    p.depth += 1;
    if p.depth > MAX_DEPTH {
        let message = format!("blocks nest deeper than {MAX_DEPTH} levels");
        p.error(Code::TooDeep, open, message)
            .help
            .push("move the inner part into a function of its own".into());
        p.error_node(|lexer| lexer.skip_braces());
    } else {
        inside(p);
    }
    p.depth -= 1;
    p.settle();
    if !p.eat(RBrace) {
        let next = p.span();
        let error = p.error(Code::UnclosedBlock, open, format!("this {what} has no `}}`"));
        if !next.is_empty() {
            *error = error.clone().also(next, "a function begins here, at top level");
        }
        error.help.push("close it; a `}` inside quotes or a comment does not count".into());
    }
    p.lexer.block = outer;
    (p.head, p.brackets) = (head, brackets);
}

/// Whether a function begins here, at the very start of a line: then a `}` was forgotten above.
pub(crate) fn at_top_level_function(p: &Parser<'_>) -> bool {
    let at = p.lexer.pos();
    let line_start = at == 0 || p.lexer.text.as_bytes()[at - 1] == b'\n';
    line_start && p.lexer.rest().starts_with("fun ")
}

// test block_words
// if a and b { echo x }
// if a or b { echo x }
// if a = b { echo x }
// if a; b { echo x }
// if a b { echo x }
fn missing_block(p: &mut Parser<'_>) {
    let head = p.previous().start as usize;
    let found = p.peek();
    let word = if found == Ident { p.token_text() } else { "" };
    let on_next_line = found == Newline && {
        p.settle();
        p.lexer.peek_past_trivia().first() == Some(&b'{')
    };
    let error = p.expected(if on_next_line { "`{` on this line" } else { "`{`" });
    error.help.push(match word {
        _ if on_next_line => "the opening brace stands on the line of its construct".into(),
        _ if found == Eq => "a comparison is written `==`".into(),
        "and" => "`and` is written `&&`".into(),
        "or" => "`or` is written `||`".into(),
        _ if matches!(found, Unknown | Semicolon) => {
            "a condition is an expression, not a command: compare values with `==`, `<`, `!`".into()
        }
        _ => "the body of a construct stands in `{ … }`".into(),
    });
    if on_next_line {
        p.pass_newlines();
        block(p);
        return;
    }
    p.recover_head();
    if p.byte_ahead() == b'{' {
        block(p);
    } else if p.at_line_end() && p.lexer.is_block_below(head) && p.depth < MAX_DEPTH {
        let marker = p.start();
        p.depth += 1;
        statements(p, Level::Block);
        p.depth -= 1;
        p.settle();
        p.eat(RBrace);
        let _ = p.complete(marker, Block);
    }
}

/// What may follow the `}` of a construct on its line: nothing that `code` forbids.
// test after_construct
// if x { echo a } && echo b
// for x in xs { echo a } | sort
// while x { echo a } > file
// if x { echo a } 2> file
// if x { echo a } echo b
// if x { echo a } # comment
// if x { echo a } /* comment */
// test after_plain_block
// { echo a } > file
// { echo a } | sort
pub(crate) fn after_block(p: &mut Parser<'_>, code: Code) {
    p.settle();
    let rest = p.lexer.peek_past_blanks();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let width = rest[digits..].iter().take_while(|byte| b"&|;<>".contains(byte)).count();
    if width == 0 {
        return;
    }
    p.lexer.blanks();
    p.pass_tokens();
    let start = p.lexer.pos() as u32;
    let span = Span::new(start, start + (digits + width) as u32);
    let operator = p.lexer.slice(span).to_owned();
    let error = if code == Code::RedirectedBlock {
        p.error(code, span, format!("`{operator}` cannot follow a plain block"))
    } else {
        p.error(code, span, format!("`{operator}` cannot follow a construct: it is no operand"))
    };
    error.help.push(if code == Code::RedirectedBlock {
        "a group of commands for the shell is `( … )`".into()
    } else {
        "put the rest on a line of its own, or inside the block".into()
    });
    p.recover();
}
